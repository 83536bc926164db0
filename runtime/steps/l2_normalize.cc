// Rows of bytes divided by their length: exact sums, one inverse for each row, then element by
// element. quantize/numerics/l2_normalize.h has the arithmetic.
#include "quantize/numerics/l2_normalize.h"

#include <algorithm>
#include <array>

#include "base/shape.h"
#include "runtime/kernels/normalize.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class L2NormalizeStep : public Step {
 public:
  explicit L2NormalizeStep(const StepContext& context)
      : src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        loops_(&NormalizeFor(context.isa)) {
    const TensorRecord& x = context.Record(Field::kSrc);
    n_ = x.shape.back();
    rows_ = NumElements(x.shape) / std::max<int64_t>(n_, 1);
    is_signed_ = x.dtype == DType::kS8;
    flip_ = is_signed_ ? 0x80 : 0;
    zero_ = x.zero_point + flip_;
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    for (int64_t row = part.begin; row < part.end; ++row) {
      const uint8_t* x = src_ + row * n_;
      const ByteSums sums = loops_->sums(x, flip_, n_);
      const int64_t squares =
          sums.squares - 2 * int64_t{zero_} * sums.sum + n_ * zero_ * int64_t{zero_};
      Divide(x, numerics::InverseLengthOf(static_cast<int32_t>(squares)), dst_ + row * n_);
    }
  }

 private:
  // From this length on a table of all bytes is made first.
  static constexpr int64_t kTableFrom = 512;

  uint8_t Result(uint8_t byte, const numerics::InverseLength& by) const noexcept {
    const int32_t v = (byte ^ flip_) - zero_;
    const int32_t q = is_signed_ ? numerics::L2Normalized(v, by) : numerics::L2NormalizedU8(v, by);
    return static_cast<uint8_t>(q);
  }

  void Divide(const uint8_t* x, const numerics::InverseLength& by, uint8_t* y) const noexcept {
    if (n_ < kTableFrom) {
      for (int64_t i = 0; i < n_; ++i) y[i] = Result(x[i], by);
      return;
    }
    std::array<uint8_t, 256> table;
    for (size_t byte = 0; byte < table.size(); ++byte)
      table[byte] = Result(static_cast<uint8_t>(byte), by);
    for (int64_t i = 0; i < n_; ++i) y[i] = table[x[i]];
  }

  const uint8_t* src_;
  uint8_t* dst_;
  const NormalizeTable* loops_;
  int64_t n_ = 0, rows_ = 0;
  bool is_signed_ = true;
  uint8_t flip_ = 0;
  int32_t zero_ = 0;  // of x ^ flip
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::L2Normalize&) {
  return std::make_unique<L2NormalizeStep>(context);
}

}  // namespace rshift
