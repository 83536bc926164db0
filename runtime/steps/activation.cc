// LeakyRelu and Table are byte maps; PRelu has a slope for each channel.
#include <algorithm>
#include <cstring>

#include "quantize/numerics/leaky_relu.h"
#include "quantize/numerics/prelu.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class ByteMap : public ByteOp {
 public:
  explicit ByteMap(const ByteTable& table) : table_(table) {}

  void Run(const uint8_t* a, const uint8_t*, uint8_t* y, int64_t,
           int64_t count) const noexcept override {
    for (int64_t i = 0; i < count; ++i) y[i] = table_[a[i]];
  }

 private:
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

std::unique_ptr<ByteOp> MakeLeakyRelu(const StepContext& context) {
  const numerics::LeakyParams params = MakeParams(context);
  return MakeByteMap(MakeByteTable(context.Record(Field::kSrc).dtype,
                                   [&](int32_t x) { return numerics::LeakyRelu(x, params); }));
}

std::unique_ptr<ByteOp> MakeTable(const StepContext& context) {
  ByteTable table;
  std::memcpy(table.data(), context.In(Field::kTable), table.size());
  return MakeByteMap(table);
}

// One byte map per slope: 256 bytes a channel, made at load.
class PReluOp : public ByteOp {
 public:
  explicit PReluOp(const StepContext& context) {
    const TensorRecord& src = context.Record(Field::kSrc);
    const auto* slopes = context.In<int8_t>(Field::kSrc2);
    numerics::LeakyParams params = MakeParams(context);
    for (int64_t c = 0; c < src.shape.back(); ++c) {
      params.multiplier = slopes[c];
      tables_.push_back(
          MakeByteTable(src.dtype, [&](int32_t x) { return numerics::PRelu(x, params); }));
    }
  }

  void Run(const uint8_t* a, const uint8_t*, uint8_t* y, int64_t at,
           int64_t count) const noexcept override {
    const auto channels = static_cast<int64_t>(tables_.size());
    for (int64_t i = 0, c = at % channels; i < count; c = 0) {
      for (const int64_t end = std::min(count, i + channels - c); i < end; ++i, ++c) {
        y[i] = tables_[static_cast<size_t>(c)][a[i]];
      }
    }
  }

 private:
  std::vector<ByteTable> tables_;
};

std::unique_ptr<ByteOp> MakePRelu(const StepContext& context) {
  const TensorRecord& slopes = context.Record(Field::kSrc2);
  if (NumElements(slopes.shape) != 1) return std::make_unique<PReluOp>(context);
  numerics::LeakyParams params = MakeParams(context);
  params.multiplier = *context.In<int8_t>(Field::kSrc2);
  return MakeByteMap(MakeByteTable(context.Record(Field::kSrc).dtype,
                                   [&](int32_t x) { return numerics::PRelu(x, params); }));
}

}  // namespace

std::unique_ptr<ByteOp> MakeByteMap(const ByteTable& table) {
  return std::make_unique<ByteMap>(table);
}

void RegisterActivationSteps() {
  RegisterByteOp(Opcode::kLeakyRelu, MakeLeakyRelu);
  RegisterByteOp(Opcode::kPRelu, MakePRelu);
  RegisterByteOp(Opcode::kTable, MakeTable);
}

}  // namespace rshift
