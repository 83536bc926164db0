// Sums and products of two quantized tensors of equal shape.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "quantize/numerics/add_forms.h"
#include "quantize/numerics/table.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/uniform_requant.h"

namespace rshift {
namespace {

// Args: AddArgs, AddFloatArgs, AddFmaArgs or MulFloatArgs.
template <typename Args>
class PairOp : public ByteOp {
 public:
  using Loop = ElementwiseTable::RowsLoop<Args>;
  PairOp(const Args& args, Loop loop) : args_(args), loop_(loop) {}

  void Run(const ByteBlock& block) const noexcept override {
    Args args = args_;
    args.a.bytes = block.a;
    args.b.bytes = block.b;
    args.y = block.y;
    loop_(args, block.rows);
  }

 private:
  Args args_;
  Loop loop_;
};

template <typename Args>
void SetOperands(const StepContext& context, const ClampQ& clamp, Args* args) {
  args->a = OperandOf(context, Field::kSrc);
  args->b = OperandOf(context, Field::kSrc2);
  args->lo = clamp.lo;
  args->hi = clamp.hi;
}

template <typename Args>
std::unique_ptr<ByteOp> Make(const Args& args, typename PairOp<Args>::Loop loop) {
  return std::make_unique<PairOp<Args>>(args, loop);
}

// Sums that leave int32, which no profile makes but a file may hold.
void AddAwayWide(const AddArgs& args, const RowBlock& rows) noexcept {
  const AddArgs p = args;
  const auto value = [](const ByteOperand& x, int64_t i) { return (x.bytes[i] ^ x.flip) - x.zero; };
  for (int64_t r = 0; r < rows.rows; ++r) {
    for (int64_t i = 0; i < rows.count; ++i) {
      const int32_t a = value(p.a, r * rows.pitch_a + i), b = value(p.b, r * rows.pitch_b + i);
      p.y[r * rows.pitch_y + i] = static_cast<uint8_t>(numerics::AddCommonShiftAway(
          a, b, p.multiplier_a, p.multiplier_b, p.rshift, p.zero_y, p.lo, p.hi));
    }
  }
}

// Any |q - Z| is at most 255.
bool SumFits(const AddArgs& args) {
  return 255 * (std::abs(int64_t{args.multiplier_a}) + std::abs(int64_t{args.multiplier_b})) <=
         INT32_MAX;
}

// There are no other operands: where the results are equal here, they are.
bool AreEqualOnAllPairs(AddFloatArgs args, ElementwiseTable::RowsLoop<AddFloatArgs> first,
                        ElementwiseTable::RowsLoop<AddFloatArgs> second) {
  constexpr int64_t kPairs = 256 * 256;
  std::vector<uint8_t> a(kPairs), b(kPairs), y(kPairs), other(kPairs);
  for (size_t i = 0; i < kPairs; ++i) {
    a[i] = static_cast<uint8_t>(i);
    b[i] = static_cast<uint8_t>(i >> 8);
  }
  args.a.bytes = a.data();
  args.b.bytes = b.data();
  args.y = y.data();
  first(args, {.count = kPairs});
  args.y = other.data();
  second(args, {.count = kPairs});
  return y == other;
}

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

class AddScaledOp : public ByteOp {
 public:
  AddScaledOp(const StepContext& context, const isa::AddScaled& c)
      : c_(c),
        is_signed_a_(context.Record(Field::kSrc).dtype == DType::kS8),
        is_signed_b_(context.Record(Field::kSrc2).dtype == DType::kS8) {}

  void Run(const ByteBlock& block) const noexcept override {
    const RowBlock& rows = block.rows;
    for (int64_t r = 0; r < rows.rows; ++r) {
      const uint8_t* a = block.a + r * rows.pitch_a;
      const uint8_t* b = block.b + r * rows.pitch_b;
      uint8_t* y = block.y + r * rows.pitch_y;
      for (int64_t i = 0; i < rows.count; ++i) {
        y[i] = static_cast<uint8_t>(numerics::AddScaled(
            numerics::ValueOfByte(a[i], is_signed_a_), numerics::ValueOfByte(b[i], is_signed_b_),
            c_.zero_a, c_.ratio, c_.scale, c_.shift, c_.after, c_.clamp.lo, c_.clamp.hi));
      }
    }
  }

 private:
  const isa::AddScaled c_;
  const bool is_signed_a_, is_signed_b_;
};

}  // namespace

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddScaled& c) {
  return std::make_unique<AddScaledOp>(context, c);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Add& c) {
  AddArgs args;
  SetOperands(context, c.clamp, &args);
  args.zero_y = context.Record(Field::kDst).zero_point;
  args.multiplier_a = c.multiplier;
  args.multiplier_b = c.multiplier2;
  args.rshift = c.rshift;
  const ElementwiseTable& loops = ElementwiseFor(context.isa);
  if (c.rounding == Rounding::kHalfUp) return Make(args, loops.add);
  return Make(args, SumFits(args) ? loops.add_away : AddAwayWide);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddFloat& c) {
  AddFloatArgs args;
  SetOperands(context, c.clamp, &args);
  args.scale_a = context.Record(Field::kSrc).scale;
  args.scale_b = context.Record(Field::kSrc2).scale;
  args.scale_y = context.Record(Field::kDst).scale;
  args.zero_y = context.Record(Field::kDst).zero_point;
  const ElementwiseTable& loops = ElementwiseFor(context.isa);
  const bool near = loops.add_float_near != nullptr &&
                    AreEqualOnAllPairs(args, loops.add_float, loops.add_float_near);
  return Make(args, near ? loops.add_float_near : loops.add_float);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddFma& c) {
  const auto lifted = [&](Field field) {  // what At() adds to bytes of s8
    return numerics::UnsignedShift(context.Record(field).dtype == DType::kS8);
  };
  AddFmaArgs args;
  SetOperands(context, c.clamp, &args);
  args.a.zero = c.keeps_sign ? lifted(Field::kSrc) : 0;  // zero points are in `fixed`
  args.b.zero = c.keeps_sign ? lifted(Field::kSrc2) : 0;
  args.ratio_a = c.ratio_a;
  args.ratio_b = c.ratio_b;
  args.fixed = c.fixed;
  args.shift_y = c.keeps_sign ? 0 : lifted(Field::kDst);
  return Make(args, ElementwiseFor(context.isa).add_fma);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Mul& c) {
  const TensorRecord& dst = context.Record(Field::kDst);
  if (c.rounding != Rounding::kFloatZeroEven)
    return std::make_unique<MulOp>(context,
                                   UniformForm{c.rounding, c.words, dst.zero_point, c.clamp});
  MulFloatArgs args;  // ONNX Runtime's form, in floats throughout
  SetOperands(context, c.clamp, &args);
  args.scale = numerics::WordToFloat(c.words.multiplier);
  args.zero_y = dst.zero_point;
  args.shift_y = c.keeps_sign ? 0 : numerics::UnsignedShift(dst.dtype == DType::kS8);
  return Make(args, ElementwiseFor(context.isa).mul_float);
}

}  // namespace rshift
