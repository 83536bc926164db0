// Quantize, Dequantize, Requantize.
#include "quantize/numerics/quantize.h"

#include <type_traits>

#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/steps/flattened_rows.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

auto LoopFor(const isa::Quantize& quantize, const ElementwiseTable& loops) {
  const auto rounding = static_cast<size_t>(quantize.rounding);
  return quantize.by_reciprocal ? loops.quantize_reciprocal[rounding] : loops.quantize[rounding];
}

// Other roundings than kEven, which few programs have.
template <RealRounding kRounding, bool kReciprocal>
void QuantizeInt16By(const QuantizeInt16Args& args, int64_t begin, int64_t end) noexcept {
  const auto quantize = kReciprocal ? numerics::QuantizeByReciprocal : numerics::QuantizeValueBy;
  for (int64_t i = begin; i < end; ++i)
    args.y[i] = static_cast<int16_t>(quantize(kRounding, args.x[i], args.scale, 0, -32768, 32767));
}

ElementwiseTable::Loop<QuantizeInt16Args> Int16LoopFor(const isa::Quantize& quantize,
                                                       const ElementwiseTable& loops) {
  if (quantize.rounding == RealRounding::kEven)
    return quantize.by_reciprocal ? loops.quantize_int16_reciprocal : loops.quantize_int16;
  switch (quantize.rounding) {
#define RSHIFT_REAL_ROUNDING(id, name, ...)                                      \
  case RealRounding::k##name:                                                    \
    return quantize.by_reciprocal ? QuantizeInt16By<RealRounding::k##name, true> \
                                  : QuantizeInt16By<RealRounding::k##name, false>;
#include "isa/functions.def"
  }
  return nullptr;  // not reached
}

template <typename Args>
void Advance(Args& args, int64_t x, int64_t y) {
  if constexpr (std::is_same_v<Args, DequantizeArgs>) {
    args.x.bytes += x;
  } else {
    args.x += x;
  }
  args.y += y;
}

// `loop` over the rows of src and dst, elements of the types X and Y.
template <typename Args, typename X, typename Y>
class RowsStep : public Step {
 public:
  RowsStep(const StepContext& context, const Args& args, ElementwiseTable::Loop<Args> loop)
      : loop_(loop),
        args_(args),
        rows_(context, {Field::kSrc, Field::kDst}),
        src_pitch_(RowPitch(context, Field::kSrc) / static_cast<int64_t>(sizeof(X))),
        dst_pitch_(RowPitch(context, Field::kDst) / static_cast<int64_t>(sizeof(Y))) {}

  void Run(const Team& team) noexcept override {
    rows_.ForEach(team, [this](int64_t row, int64_t begin, int64_t end) {
      Args args = args_;
      Advance(args, row * src_pitch_, row * dst_pitch_);
      loop_(args, begin, end);
    });
  }

 private:
  ElementwiseTable::Loop<Args> loop_;
  Args args_;
  FlattenedRows rows_;
  int64_t src_pitch_, dst_pitch_;  // elements
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Quantize& c) {
  const TensorRecord& dst = context.Record(Field::kDst);
  const ElementwiseTable& loops = ElementwiseFor(context.isa);
  const auto* x = context.In<float>(Field::kSrc);
  if (dst.dtype == DType::kS16) {
    const QuantizeInt16Args args{x, context.Out<int16_t>(Field::kDst), dst.scale};
    return std::make_unique<RowsStep<QuantizeInt16Args, float, int16_t>>(context, args,
                                                                         Int16LoopFor(c, loops));
  }
  const bool is_signed = dst.dtype == DType::kS8;
  const QuantizeArgs args{.x = x,
                          .y = context.Out<uint8_t>(Field::kDst),
                          .scale = dst.scale,
                          .zero = dst.zero_point,
                          .lo = is_signed ? -128 : 0,
                          .hi = is_signed ? 127 : 255};
  return std::make_unique<RowsStep<QuantizeArgs, float, uint8_t>>(context, args, LoopFor(c, loops));
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Dequantize&) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const ElementwiseTable& loops = ElementwiseFor(context.isa);
  auto* y = context.Out<float>(Field::kDst);
  if (src.dtype == DType::kS16) {
    const DequantizeInt16Args args{context.In<int16_t>(Field::kSrc), y, src.scale};
    return std::make_unique<RowsStep<DequantizeInt16Args, int16_t, float>>(context, args,
                                                                           loops.dequantize_int16);
  }
  const DequantizeArgs args{.x = OperandOf(context, Field::kSrc), .y = y, .scale = src.scale};
  return std::make_unique<RowsStep<DequantizeArgs, uint8_t, float>>(context, args,
                                                                    loops.dequantize);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Requantize& c) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const int32_t zero_y = context.Record(Field::kDst).zero_point;
  return MakeLutOp(context.isa, MakeByteTable(src.dtype, [&](int32_t x) {
                     return numerics::RequantizeByte(c.rounding, x, src.zero_point,
                                                     c.words.multiplier, c.words.rshift, zero_y,
                                                     c.clamp.lo, c.clamp.hi);
                   }));
}

}  // namespace rshift
