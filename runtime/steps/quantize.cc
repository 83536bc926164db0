// Quantize, Dequantize, Requantize.
#include "quantize/numerics/quantize.h"

#include <array>

#include "quantize/numerics/requantize.h"
#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class QuantizeStep : public Step {
 public:
  explicit QuantizeStep(const StepContext& context)
      : src_(context.In<float>(Field::kSrc)), dst_(context.Out<uint8_t>(Field::kDst)) {
    const TensorRecord& dst = context.Record(Field::kDst);
    count_ = NumElements(dst.shape);
    scale_ = dst.scale;
    zero_ = dst.zero_point;
    lo_ = dst.dtype == DType::kS8 ? -128 : 0;
    hi_ = dst.dtype == DType::kS8 ? 127 : 255;
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    const float* src = src_;
    uint8_t* dst = dst_;
    const float scale = scale_;
    const int32_t zero = zero_, lo = lo_, hi = hi_;
    for (int64_t i = part.begin; i < part.end; ++i) {
      dst[i] = static_cast<uint8_t>(numerics::QuantizeValue(src[i], scale, zero, lo, hi));
    }
  }

 private:
  const float* src_;
  uint8_t* dst_;
  int64_t count_ = 0;
  float scale_ = 1.0f;
  int32_t zero_ = 0, lo_ = 0, hi_ = 0;
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
    return numerics::RequantizeByte(x, src.zero_point,
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
