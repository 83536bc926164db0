// LeakyRelu and Table are byte maps; PRelu has a slope for each channel.
#include <cstring>

#include "quantize/numerics/leaky_relu.h"
#include "quantize/numerics/prelu.h"
#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class ByteMapStep : public Step {
 public:
  ByteMapStep(const StepContext& context, const ByteTable& table)
      : src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        count_(NumElements(context.Record(Field::kDst).shape)),
        table_(table) {}

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    for (int64_t i = part.begin; i < part.end; ++i) dst_[i] = table_[src_[i]];
  }

 private:
  const uint8_t* src_;
  uint8_t* dst_;
  int64_t count_;
  ByteTable table_;
};

numerics::LeakyParams MakeParams(const StepContext& context) {
  const Command& command = *context.command;
  return {.zero_x = context.Record(Field::kSrc).zero_point,
          .zero_y = context.Record(Field::kDst).zero_point,
          .multiplier = static_cast<int32_t>(command.Get(Field::kMultiplier)),
          .rshift = static_cast<int32_t>(command.Get(Field::kRshift)),
          .multiplier_positive = static_cast<int32_t>(command.Get(Field::kMultiplier2)),
          .rshift_positive = static_cast<int32_t>(command.Get(Field::kRshift2)),
          .lo = static_cast<int32_t>(command.Get(Field::kClampLoQ)),
          .hi = static_cast<int32_t>(command.Get(Field::kClampHiQ))};
}

std::unique_ptr<Step> MakeLeakyRelu(const StepContext& context) {
  const numerics::LeakyParams params = MakeParams(context);
  return MakeByteMapStep(context, MakeByteTable(context.Record(Field::kSrc).dtype, [&](int32_t x) {
                           return numerics::LeakyRelu(x, params);
                         }));
}

std::unique_ptr<Step> MakeTable(const StepContext& context) {
  ByteTable table;
  std::memcpy(table.data(), context.In(Field::kTable), table.size());
  return MakeByteMapStep(context, table);
}

// One byte map per slope: 256 bytes a channel, made at load.
class PReluStep : public Step {
 public:
  explicit PReluStep(const StepContext& context)
      : src_(context.In<uint8_t>(Field::kSrc)), dst_(context.Out<uint8_t>(Field::kDst)) {
    const TensorRecord& src = context.Record(Field::kSrc);
    channels_ = src.shape.back();
    pixels_ = channels_ == 0 ? 0 : NumElements(src.shape) / channels_;
    const auto* slopes = context.In<int8_t>(Field::kSrc2);
    numerics::LeakyParams params = MakeParams(context);
    for (int64_t c = 0; c < channels_; ++c) {
      params.multiplier = slopes[c];
      tables_.push_back(
          MakeByteTable(src.dtype, [&](int32_t x) { return numerics::PRelu(x, params); }));
    }
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(pixels_, 1, team);
    for (int64_t pixel = part.begin; pixel < part.end; ++pixel) {
      const uint8_t* src = src_ + pixel * channels_;
      uint8_t* dst = dst_ + pixel * channels_;
      for (int64_t c = 0; c < channels_; ++c) dst[c] = tables_[static_cast<size_t>(c)][src[c]];
    }
  }

 private:
  const uint8_t* src_;
  uint8_t* dst_;
  int64_t channels_ = 0, pixels_ = 0;
  std::vector<ByteTable> tables_;
};

std::unique_ptr<Step> MakePRelu(const StepContext& context) {
  const TensorRecord& slopes = context.Record(Field::kSrc2);
  if (NumElements(slopes.shape) != 1) return std::make_unique<PReluStep>(context);
  numerics::LeakyParams params = MakeParams(context);
  params.multiplier = *context.In<int8_t>(Field::kSrc2);
  return MakeByteMapStep(context, MakeByteTable(context.Record(Field::kSrc).dtype, [&](int32_t x) {
                           return numerics::PRelu(x, params);
                         }));
}

}  // namespace

std::unique_ptr<Step> MakeByteMapStep(const StepContext& context, const ByteTable& table) {
  return std::make_unique<ByteMapStep>(context, table);
}

void RegisterActivationSteps() {
  RegisterStep(Opcode::kLeakyRelu, MakeLeakyRelu);
  RegisterStep(Opcode::kPRelu, MakePRelu);
  RegisterStep(Opcode::kTable, MakeTable);
}

}  // namespace rshift
