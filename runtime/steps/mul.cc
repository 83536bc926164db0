// Product of two quantized tensors of equal shape.
#include "quantize/numerics/add_forms.h"
#include "runtime/step.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

struct MulArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  uint8_t* y = nullptr;
  int32_t zero_a = 0, zero_b = 0, zero_y = 0, shift_y = 0;
  int32_t multiplier = 0, rshift = 0, lo = 0, hi = 0;
};
using MulLoop = void (*)(const MulArgs&, int64_t begin, int64_t end) noexcept;

template <Rounding kRounding, typename A, typename B>
void Loop(const MulArgs& args, int64_t begin, int64_t end) noexcept {
  const MulArgs p = args;
  const A* a = static_cast<const A*>(p.a);
  const B* b = static_cast<const B*>(p.b);
  for (int64_t i = begin; i < end; ++i) {
    const int32_t product = (a[i] - p.zero_a) * (b[i] - p.zero_b);
    p.y[i] = static_cast<uint8_t>(numerics::MulBy(kRounding, product, p.multiplier, p.rshift,
                                                  p.zero_y, p.shift_y, p.lo, p.hi));
  }
}

template <Rounding kRounding>
MulLoop ByTypes(bool a_signed, bool b_signed) {
  if (a_signed)
    return b_signed ? Loop<kRounding, int8_t, int8_t> : Loop<kRounding, int8_t, uint8_t>;
  return b_signed ? Loop<kRounding, uint8_t, int8_t> : Loop<kRounding, uint8_t, uint8_t>;
}

// The verifier lets no other rounding through.
MulLoop LoopFor(Rounding rounding, bool a_signed, bool b_signed) {
  switch (rounding) {
    case Rounding::kTwoStep:
      return ByTypes<Rounding::kTwoStep>(a_signed, b_signed);
    case Rounding::kTwoStepUp:
      return ByTypes<Rounding::kTwoStepUp>(a_signed, b_signed);
    case Rounding::kHalfAway:
      return ByTypes<Rounding::kHalfAway>(a_signed, b_signed);
    case Rounding::kFloatEven:
      return ByTypes<Rounding::kFloatEven>(a_signed, b_signed);
    case Rounding::kFloatZeroEven:
      return ByTypes<Rounding::kFloatZeroEven>(a_signed, b_signed);
    default:
      return ByTypes<Rounding::kHalfUp>(a_signed, b_signed);
  }
}

class MulStep : public Step {
 public:
  explicit MulStep(const StepContext& context) {
    const TensorRecord& a = context.Record(Field::kSrc);
    const TensorRecord& b = context.Record(Field::kSrc2);
    const TensorRecord& y = context.Record(Field::kDst);
    const auto get = [&](Field f) { return static_cast<int32_t>(context.command->Get(f)); };
    args_ = {.a = context.In(Field::kSrc),
             .b = context.In(Field::kSrc2),
             .y = context.Out<uint8_t>(Field::kDst),
             .zero_a = a.zero_point,
             .zero_b = b.zero_point,
             .zero_y = y.zero_point,
             .shift_y = numerics::UnsignedShift(y.dtype == DType::kS8),
             .multiplier = get(Field::kMultiplier),
             .rshift = get(Field::kRshift),
             .lo = get(Field::kClampLoQ),
             .hi = get(Field::kClampHiQ)};
    loop_ = LoopFor(static_cast<Rounding>(get(Field::kRounding)), a.dtype == DType::kS8,
                    b.dtype == DType::kS8);
    count_ = NumElements(y.shape);
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    loop_(args_, part.begin, part.end);
  }

 private:
  MulArgs args_;
  MulLoop loop_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace

void RegisterMulSteps() {
  RegisterStep(Opcode::kMul, [](const StepContext& context) -> std::unique_ptr<Step> {
    return std::make_unique<MulStep>(context);
  });
}

}  // namespace rshift
