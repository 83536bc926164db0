// Sums of squares of rows, and their roots. quantize/numerics/squares.h has the arithmetic.
#include <algorithm>

#include "quantize/numerics/squares.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class ReduceSquaresStep : public Step {
 public:
  ReduceSquaresStep(const StepContext& context, const isa::ReduceSquares& c)
      : c_(c),
        zero_(context.Record(Field::kDst).zero_point),
        rows_(context.Record(Field::kSrc).shape[1]),
        inner_(context.Record(Field::kSrc).shape[3]),
        outer_(context.Record(Field::kSrc).shape[0]),
        src_(context, Field::kSrc),
        dst_(context) {}

  void Run(const Team& team) noexcept override {
    const int64_t blocks = (inner_ + kS16Block - 1) / kS16Block;
    const Range part = ThreadRange(outer_ * blocks, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t outer = item / blocks, first = item % blocks * kS16Block;
      if (inner_ == 1) {
        RunColumn(outer);
      } else {
        RunBlock(outer, first, std::min(kS16Block, inner_ - first));
      }
    }
  }

 private:
  // One sum of numbers that stand side by side.
  void RunColumn(int64_t outer) const noexcept {
    alignas(64) int32_t v[kS16Block];
    int64_t sum = 0;
    for (int64_t row = 0; row < rows_; row += kS16Block) {
      const int64_t n = std::min(kS16Block, rows_ - row);
      src_.Read(outer * rows_ + row, n, v);
      for (int64_t i = 0; i < n; ++i) sum += int64_t{v[i]} * v[i];
    }
    const int32_t y = Result(sum);
    dst_.Write(&y, outer, 1);
  }

  void RunBlock(int64_t outer, int64_t first, int64_t n) const noexcept {
    alignas(64) int32_t v[kS16Block];
    alignas(64) int64_t sum[kS16Block];
    std::fill_n(sum, n, 0);
    for (int64_t row = 0; row < rows_; ++row) {
      src_.Read((outer * rows_ + row) * inner_ + first, n, v);
      for (int64_t i = 0; i < n; ++i) sum[i] += int64_t{v[i]} * v[i];
    }
    for (int64_t i = 0; i < n; ++i) v[i] = Result(sum[i]);
    dst_.Write(v, outer * inner_ + first, n);
  }

  int32_t Result(int64_t sum) const noexcept {
    const int64_t scaled =
        c_.root ? numerics::ScaleRoot(sum, c_.words) : numerics::ScaleSquares(sum, c_.words);
    return numerics::Clamp(scaled + zero_, c_.clamp.lo, c_.clamp.hi);
  }

  const isa::ReduceSquares c_;
  int32_t zero_;
  int64_t rows_, inner_, outer_;
  WidenedInput src_;
  NarrowedOutput dst_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ReduceSquares& c) {
  return std::make_unique<ReduceSquaresStep>(context, c);
}

}  // namespace rshift
