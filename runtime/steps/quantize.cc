// Quantize, Dequantize, Requantize.
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

class QuantizeStep : public Step {
 public:
  QuantizeStep(const StepContext& context, const isa::Quantize& c)
      : loop_(LoopFor(c, context.isa)),
        rows_(context, {Field::kSrc, Field::kDst}),
        src_pitch_(RowPitch(context, Field::kSrc) / static_cast<int64_t>(sizeof(float))),
        dst_pitch_(RowPitch(context, Field::kDst)) {
    const TensorRecord& dst = context.Record(Field::kDst);
    const bool is_signed = dst.dtype == DType::kS8;
    args_ = {.x = context.In<float>(Field::kSrc),
             .y = context.Out<uint8_t>(Field::kDst),
             .scale = dst.scale,
             .zero = dst.zero_point,
             .lo = is_signed ? -128 : 0,
             .hi = is_signed ? 127 : 255};
  }

  void Run(const Team& team) noexcept override {
    rows_.ForEach(team, [this](int64_t row, int64_t begin, int64_t end) {
      QuantizeArgs args = args_;
      args.x += row * src_pitch_;
      args.y += row * dst_pitch_;
      loop_(args, begin, end);
    });
  }

 private:
  ElementwiseTable::Loop<QuantizeArgs> loop_;
  QuantizeArgs args_;
  FlattenedRows rows_;
  int64_t src_pitch_, dst_pitch_;  // elements
};

class DequantizeStep : public Step {
 public:
  explicit DequantizeStep(const StepContext& context)
      : loop_(ElementwiseFor(context.isa).dequantize),
        args_{.x = OperandOf(context, Field::kSrc),
              .y = context.Out<float>(Field::kDst),
              .scale = context.Record(Field::kSrc).scale},
        rows_(context, {Field::kSrc, Field::kDst}),
        src_pitch_(RowPitch(context, Field::kSrc)),
        dst_pitch_(RowPitch(context, Field::kDst) / static_cast<int64_t>(sizeof(float))) {}

  void Run(const Team& team) noexcept override {
    rows_.ForEach(team, [this](int64_t row, int64_t begin, int64_t end) {
      DequantizeArgs args = args_;
      args.x.bytes += row * src_pitch_;
      args.y += row * dst_pitch_;
      loop_(args, begin, end);
    });
  }

 private:
  ElementwiseTable::Loop<DequantizeArgs> loop_;
  DequantizeArgs args_;
  FlattenedRows rows_;
  int64_t src_pitch_, dst_pitch_;  // elements
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Quantize& c) {
  return std::make_unique<QuantizeStep>(context, c);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Dequantize&) {
  return std::make_unique<DequantizeStep>(context);
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
