// Quantize, Dequantize, Requantize.
#include "quantize/numerics/quantize.h"

#include <array>

#include "quantize/numerics/requantize.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class QuantizeStep : public Step {
 public:
  explicit QuantizeStep(const StepContext& context) : loop_(ElementwiseFor(context.isa).quantize) {
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
  void (*loop_)(const QuantizeArgs&, int64_t, int64_t) noexcept;
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
  const Command& command = *context.command;
  return MakeByteMapStep(context, MakeByteTable(src.dtype, [&](int32_t x) {
                           return numerics::RequantizeByte(
                               x, src.zero_point,
                               static_cast<int32_t>(command.Get(Field::kMultiplier)),
                               static_cast<int32_t>(command.Get(Field::kRshift)), zero_y,
                               static_cast<int32_t>(command.Get(Field::kClampLoQ)),
                               static_cast<int32_t>(command.Get(Field::kClampHiQ)));
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
