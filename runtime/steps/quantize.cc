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

auto LoopFor(const isa::Quantize& quantize, Isa isa) {
  const auto rounding = static_cast<size_t>(quantize.rounding);
  const ElementwiseTable& loops = ElementwiseFor(isa);
  return quantize.by_reciprocal ? loops.quantize_reciprocal[rounding] : loops.quantize[rounding];
}

void Advance(QuantizeArgs& args, int64_t x, int64_t y) {
  args.x += x;
  args.y += y;
}

void Advance(DequantizeArgs& args, int64_t x, int64_t y) {
  args.x.bytes += x;
  args.y += y;
}

// s16, zero point 0.
struct StateArgs {
  const float* x;
  int16_t* y;
  float scale;
  RealRounding rounding;
};
struct RealStateArgs {
  const int16_t* x;
  float* y;
  float scale;
};

template <typename Args>
requires(std::is_same_v<Args, StateArgs> ||
         std::is_same_v<Args, RealStateArgs>) void Advance(Args& args, int64_t x, int64_t y) {
  args.x += x;
  args.y += y;
}

void QuantizeState(const StateArgs& args, int64_t begin, int64_t end) noexcept {
  for (int64_t i = begin; i < end; ++i) {
    args.y[i] =
        static_cast<int16_t>(numerics::QuantizeValue(args.x[i], args.scale, 0, -32768, 32767));
  }
}

// Under the command's rounding; times 1 / scale.
void QuantizeStateBy(const StateArgs& args, int64_t begin, int64_t end) noexcept {
  for (int64_t i = begin; i < end; ++i)
    args.y[i] = static_cast<int16_t>(
        numerics::QuantizeValueBy(args.rounding, args.x[i], args.scale, 0, -32768, 32767));
}
void QuantizeStateByReciprocal(const StateArgs& args, int64_t begin, int64_t end) noexcept {
  for (int64_t i = begin; i < end; ++i)
    args.y[i] = static_cast<int16_t>(
        numerics::QuantizeByReciprocal(args.rounding, args.x[i], args.scale, 0, -32768, 32767));
}

void DequantizeState(const RealStateArgs& args, int64_t begin, int64_t end) noexcept {
  for (int64_t i = begin; i < end; ++i)
    args.y[i] = numerics::DequantizeValue(args.x[i], args.scale, 0);
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
  if (dst.dtype == DType::kS16) {
    const StateArgs args{context.In<float>(Field::kSrc), context.Out<int16_t>(Field::kDst),
                         dst.scale, c.rounding};
    const auto loop = c.by_reciprocal                     ? QuantizeStateByReciprocal
                      : c.rounding == RealRounding::kEven ? QuantizeState
                                                          : QuantizeStateBy;
    return std::make_unique<RowsStep<StateArgs, float, int16_t>>(context, args, loop);
  }
  const bool is_signed = dst.dtype == DType::kS8;
  const QuantizeArgs args{.x = context.In<float>(Field::kSrc),
                          .y = context.Out<uint8_t>(Field::kDst),
                          .scale = dst.scale,
                          .zero = dst.zero_point,
                          .lo = is_signed ? -128 : 0,
                          .hi = is_signed ? 127 : 255};
  return std::make_unique<RowsStep<QuantizeArgs, float, uint8_t>>(context, args,
                                                                  LoopFor(c, context.isa));
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Dequantize&) {
  const TensorRecord& src = context.Record(Field::kSrc);
  if (src.dtype == DType::kS16) {
    const RealStateArgs args{context.In<int16_t>(Field::kSrc), context.Out<float>(Field::kDst),
                             src.scale};
    return std::make_unique<RowsStep<RealStateArgs, int16_t, float>>(context, args,
                                                                     DequantizeState);
  }
  const DequantizeArgs args{.x = OperandOf(context, Field::kSrc),
                            .y = context.Out<float>(Field::kDst),
                            .scale = src.scale};
  return std::make_unique<RowsStep<DequantizeArgs, uint8_t, float>>(
      context, args, ElementwiseFor(context.isa).dequantize);
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
