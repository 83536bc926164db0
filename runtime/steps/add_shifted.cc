// TFLite's addition: both operands rescaled, added, rescaled.
#include <algorithm>
#include <array>

#include "quantize/numerics/add_forms.h"
#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/uniform_requant.h"

namespace rshift {
namespace {

using Terms = std::array<int32_t, 256>;

// Each operand's rescaled value is a table of its byte; one rescaling is left for an element.
struct Operands {
  Terms a{}, b{};
};

// AddBlocks in graph/ops/quant.h: elements to a block, by mode.
constexpr int64_t kBlock[] = {1, 16, 8, 1};
constexpr int32_t kSubtract = 3;

class AddShiftedStep : public Step {
 public:
  explicit AddShiftedStep(const StepContext& context)
      : rounding_(static_cast<Rounding>(Get(context, Field::kRounding))),
        a_(context.In<uint8_t>(Field::kSrc)),
        b_(context.In<uint8_t>(Field::kSrc2)),
        y_(context.Out<uint8_t>(Field::kDst)),
        requantize_(context.isa, {.rounding = rounding_,
                                  .multiplier = Get(context, Field::kMultiplier3),
                                  .rshift = Get(context, Field::kRshift3),
                                  .zero_y = context.Record(Field::kDst).zero_point,
                                  .lo = Get(context, Field::kClampLoQ),
                                  .hi = Get(context, Field::kClampHiQ)}),
        count_(NumElements(context.Record(Field::kDst).shape)) {
    const int32_t mode = Get(context, Field::kMode);
    blocks_ = MakeOperands(context, mode);
    tail_ = MakeOperands(context, mode == kSubtract ? kSubtract : 0);
    tail_begin_ = count_ / kBlock[mode] * kBlock[mode];
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    RunPart(blocks_, part.begin, std::min(part.end, tail_begin_));
    RunPart(tail_, std::max(part.begin, tail_begin_), part.end);
  }

 private:
  static int32_t Get(const StepContext& context, Field f) {
    return static_cast<int32_t>(context.command->Get(f));
  }

  Operands MakeOperands(const StepContext& context, int32_t mode) const {
    Operands made{MakeTerms(context, mode, Field::kSrc, Field::kMultiplier, Field::kRshift),
                  MakeTerms(context, mode, Field::kSrc2, Field::kMultiplier2, Field::kRshift2)};
    if (mode == kSubtract) {
      for (int32_t& term : made.b) term = -term;
    }
    return made;
  }

  Terms MakeTerms(const StepContext& context, int32_t mode, Field operand, Field multiplier,
                  Field shift) const {
    const TensorRecord& record = context.Record(operand);
    const int32_t left = Get(context, Field::kCount);
    const int32_t m = Get(context, multiplier), rshift = Get(context, shift);
    Terms terms{};
    for (int byte = 0; byte < 256; ++byte) {
      const int32_t v = ValueOf(static_cast<uint8_t>(byte), record.dtype) - record.zero_point;
      terms[static_cast<size_t>(byte)] =
          mode == 1   ? numerics::AddBlockOf16Term(v, left, m, rshift)
          : mode == 2 ? numerics::AddBlockOf8Term(v, left, m, rshift)
                      : numerics::AddShiftedTerm(rounding_, v, left, m, rshift);
    }
    return terms;
  }

  void RunPart(const Operands& terms, int64_t begin, int64_t end) const noexcept {
    alignas(64) int32_t sums[kRequantBlock + kRequantSlack];
    for (int64_t at = begin; at < end; at += kRequantBlock) {
      const int64_t count = std::min(kRequantBlock, end - at);
      for (int64_t i = 0; i < count; ++i) sums[i] = terms.a[a_[at + i]] + terms.b[b_[at + i]];
      requantize_(sums, count, y_ + at);
    }
  }

  Rounding rounding_;
  const uint8_t* a_;
  const uint8_t* b_;
  uint8_t* y_;
  UniformRequant requantize_;
  int64_t count_, tail_begin_ = 0;
  Operands blocks_, tail_;
};

}  // namespace

void RegisterAddShiftedSteps() {
  RegisterStep(Opcode::kAddShifted, [](const StepContext& context) -> std::unique_ptr<Step> {
    return std::make_unique<AddShiftedStep>(context);
  });
}

}  // namespace rshift
