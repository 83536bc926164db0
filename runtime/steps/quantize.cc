// Quantize, Dequantize, Requantize.
#include "quantize/numerics/quantize.h"

#include <array>

#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// Every form but the division rounded to even, which has a loop for each instruction set.
template <RealRounding kRounding, bool kReciprocal>
void QuantizeBy(const QuantizeArgs& args, int64_t begin, int64_t end) noexcept {
  constexpr auto kQuantize =
      kReciprocal ? numerics::QuantizeByReciprocal : numerics::QuantizeValueBy;
  const QuantizeArgs p = args;
  for (int64_t i = begin; i < end; ++i) {
    p.y[i] = static_cast<uint8_t>(kQuantize(kRounding, p.x[i], p.scale, p.zero, p.lo, p.hi));
  }
}

using QuantizeLoop = void (*)(const QuantizeArgs&, int64_t, int64_t) noexcept;

template <bool kReciprocal>
QuantizeLoop LoopBy(RealRounding rounding) {
  switch (rounding) {
    case RealRounding::kAway:
      return QuantizeBy<RealRounding::kAway, kReciprocal>;
    case RealRounding::kFloor:
      return QuantizeBy<RealRounding::kFloor, kReciprocal>;
    case RealRounding::kCeil:
      return QuantizeBy<RealRounding::kCeil, kReciprocal>;
    case RealRounding::kTruncate:
      return QuantizeBy<RealRounding::kTruncate, kReciprocal>;
    default:
      return QuantizeBy<RealRounding::kEven, kReciprocal>;
  }
}

QuantizeLoop LoopFor(const Command& command, Isa isa) {
  const auto rounding = static_cast<RealRounding>(command.Get(Field::kMode));
  if (command.Get(Field::kFlags) != 0) return LoopBy<true>(rounding);
  return rounding == RealRounding::kEven ? ElementwiseFor(isa).quantize : LoopBy<false>(rounding);
}

class QuantizeStep : public Step {
 public:
  explicit QuantizeStep(const StepContext& context)
      : loop_(LoopFor(*context.command, context.isa)) {
    const TensorRecord& dst = context.Record(Field::kDst);
    count_ = NumElements(dst.shape);
    const bool is_signed = dst.dtype == DType::kS8;
    args_ = {.x = context.In<float>(Field::kSrc),
             .y = context.Out<uint8_t>(Field::kDst),
             .scale = dst.scale,
             .zero = dst.zero_point,
             .lo = is_signed ? -128 : 0,
             .hi = is_signed ? 127 : 255};
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    loop_(args_, part.begin, part.end);
  }

 private:
  QuantizeLoop loop_;
  QuantizeArgs args_;
  int64_t count_ = 0;
};

class DequantizeStep : public Step {
 public:
  explicit DequantizeStep(const StepContext& context)
      : src_(context.In<uint8_t>(Field::kSrc)), dst_(context.Out<float>(Field::kDst)) {
    const TensorRecord& src = context.Record(Field::kSrc);
    count_ = NumElements(src.shape);
    for (int byte = 0; byte < 256; ++byte) {
      table_[static_cast<size_t>(byte)] = numerics::DequantizeValue(
          ValueOf(static_cast<uint8_t>(byte), src.dtype), src.scale, src.zero_point);
    }
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    for (int64_t i = part.begin; i < part.end; ++i) dst_[i] = table_[src_[i]];
  }

 private:
  const uint8_t* src_;
  float* dst_;
  int64_t count_ = 0;
  std::array<float, 256> table_;
};

std::unique_ptr<Step> MakeRequantize(const StepContext& context) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const int32_t zero_y = context.Record(Field::kDst).zero_point;
  const auto get = [&](Field f) { return static_cast<int32_t>(context.command->Get(f)); };
  const auto rounding = static_cast<Rounding>(get(Field::kRounding));
  const int32_t multiplier = get(Field::kMultiplier), rshift = get(Field::kRshift);
  const int32_t lo = get(Field::kClampLoQ), hi = get(Field::kClampHiQ);
  return MakeByteMapStep(context, MakeByteTable(src.dtype, [&](int32_t x) {
                           const int32_t v = x - src.zero_point;
                           // Multiplier 0 stands for the factor 1.
                           if (multiplier == 0) return numerics::Clamp(v + zero_y, lo, hi);
                           return numerics::RequantizeBy(rounding, v, multiplier, rshift, zero_y,
                                                         lo, hi);
                         }));
}

template <typename T>
std::unique_ptr<Step> Make(const StepContext& context) {
  return std::make_unique<T>(context);
}

}  // namespace

void RegisterQuantizeSteps() {
  RegisterStep(Opcode::kQuantize, Make<QuantizeStep>);
  RegisterStep(Opcode::kDequantize, Make<DequantizeStep>);
  RegisterStep(Opcode::kRequantize, MakeRequantize);
}

}  // namespace rshift
