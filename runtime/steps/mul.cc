// Product of two quantized tensors of equal shape.
#include <algorithm>

#include "quantize/numerics/add_forms.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/uniform_requant.h"

namespace rshift {
namespace {

// Products by a loop for the instruction set, requantized a block at a time.
class MulStep : public Step {
 public:
  MulStep(const StepContext& context, const UniformWords& words)
      : loop_(ElementwiseFor(context.isa).product),
        args_{.a = OperandOf(context, Field::kSrc), .b = OperandOf(context, Field::kSrc2)},
        y_(context.Out<uint8_t>(Field::kDst)),
        count_(NumElements(context.Record(Field::kDst).shape)),
        requantize_(context.isa, words) {}

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    alignas(64) int32_t products[kRequantBlock + kRequantSlack];
    ProductArgs args = args_;
    args.y = products;
    for (int64_t at = part.begin; at < part.end; at += kRequantBlock) {
      const int64_t end = std::min(at + kRequantBlock, part.end);
      loop_(args, at, end);
      requantize_(products, end - at, y_ + at);
    }
  }

 private:
  ElementwiseTable::Loop<ProductArgs> loop_;
  ProductArgs args_;
  uint8_t* y_;
  int64_t count_ = 0;
  UniformRequant requantize_;
};

// ONNX Runtime's form, in floats throughout.
class MulFloatStep : public Step {
 public:
  MulFloatStep(const StepContext& context, const UniformWords& words)
      : loop_(ElementwiseFor(context.isa).mul_float),
        args_{.a = OperandOf(context, Field::kSrc),
              .b = OperandOf(context, Field::kSrc2),
              .y = context.Out<uint8_t>(Field::kDst),
              .scale = numerics::WordToFloat(words.multiplier),
              .zero_y = words.zero_y,
              .shift_y = numerics::UnsignedShift(context.Record(Field::kDst).dtype == DType::kS8),
              .lo = words.lo,
              .hi = words.hi},
        count_(NumElements(context.Record(Field::kDst).shape)) {}

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    loop_(args_, part.begin, part.end);
  }

 private:
  ElementwiseTable::Loop<MulFloatArgs> loop_;
  MulFloatArgs args_;
  int64_t count_ = 0;
};

std::unique_ptr<Step> MakeMul(const StepContext& context) {
  const auto get = [&](Field f) { return static_cast<int32_t>(context.command->Get(f)); };
  const UniformWords words{.rounding = static_cast<Rounding>(get(Field::kRounding)),
                           .multiplier = get(Field::kMultiplier),
                           .rshift = get(Field::kRshift),
                           .zero_y = context.Record(Field::kDst).zero_point,
                           .lo = get(Field::kClampLoQ),
                           .hi = get(Field::kClampHiQ)};
  if (words.rounding == Rounding::kFloatZeroEven)
    return std::make_unique<MulFloatStep>(context, words);
  return std::make_unique<MulStep>(context, words);
}

}  // namespace

void RegisterMulSteps() { RegisterStep(Opcode::kMul, MakeMul); }

}  // namespace rshift
