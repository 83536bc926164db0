// Product of two quantized tensors of equal shape.
#include <algorithm>

#include "quantize/numerics/add_forms.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/uniform_requant.h"

namespace rshift {
namespace {

// Products by a loop for the instruction set, requantized a block at a time.
class MulOp : public ByteOp {
 public:
  MulOp(const StepContext& context, const UniformForm& form)
      : loop_(ElementwiseFor(context.isa).product),
        args_{.a = OperandOf(context, Field::kSrc), .b = OperandOf(context, Field::kSrc2)},
        requantize_(context.isa, form) {}

  void Run(const ByteBlock& block) const noexcept override {
    for (int64_t r = 0; r < block.rows.rows; ++r) RunRow(block.Row(r, 0, block.rows.count));
  }

 private:
  void RunRow(const ByteBlock& row) const noexcept {
    alignas(64) int32_t products[kRequantBlock + kRequantSlack];
    ProductArgs args = args_;
    args.a.bytes = row.a;
    args.b.bytes = row.b;
    args.y = products;
    for (int64_t at = 0; at < row.rows.count; at += kRequantBlock) {
      const int64_t end = std::min(at + kRequantBlock, row.rows.count);
      loop_(args, at, end);
      requantize_(products, end - at, row.y + at);
    }
  }

  ElementwiseTable::Loop<ProductArgs> loop_;
  ProductArgs args_;
  UniformRequant requantize_;
};

// ONNX Runtime's form, in floats throughout.
class MulFloatOp : public ByteOp {
 public:
  MulFloatOp(const StepContext& context, const UniformForm& form)
      : loop_(ElementwiseFor(context.isa).mul_float),
        args_{.a = OperandOf(context, Field::kSrc),
              .b = OperandOf(context, Field::kSrc2),
              .scale = numerics::WordToFloat(form.words.multiplier),
              .zero_y = form.zero_y,
              .shift_y = numerics::UnsignedShift(context.Record(Field::kDst).dtype == DType::kS8),
              .lo = form.clamp.lo,
              .hi = form.clamp.hi} {}

  void Run(const ByteBlock& block) const noexcept override {
    MulFloatArgs args = args_;
    args.a.bytes = block.a;
    args.b.bytes = block.b;
    args.y = block.y;
    loop_(args, block.rows);
  }

 private:
  ElementwiseTable::RowsLoop<MulFloatArgs> loop_;
  MulFloatArgs args_;
};

}  // namespace

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Mul& c) {
  const UniformForm form{c.rounding, c.words, context.Record(Field::kDst).zero_point, c.clamp};
  if (c.rounding == Rounding::kFloatZeroEven) return std::make_unique<MulFloatOp>(context, form);
  return std::make_unique<MulOp>(context, form);
}

}  // namespace rshift
