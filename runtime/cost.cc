#include "runtime/cost.h"

#include <algorithm>

#include "base/checked.h"
#include "isa/ops/field_list.h"

namespace rshift {
namespace {

double MacsPerNs(const CostModel& model, Opcode opcode) {
  if (IsFloatCompute(opcode)) return model.f32_macs_per_ns;
  switch (TraitsOf(opcode).macs) {
    case MacForm::kDepthwise:
      return model.depthwise_macs_per_ns;
    case MacForm::kMatMul:
      return model.matmul_macs_per_ns;
    case MacForm::kConv:
    case MacForm::kConvTranspose:
    case MacForm::kConvPlanar:
    case MacForm::kNone:
      break;
  }
  return model.conv_macs_per_ns;
}

// Of reading `bytes` of something that takes `size` bytes altogether.
double ReadNs(const CostModel& model, uint64_t bytes, uint64_t size) {
  const double kib = static_cast<double>(size) / 1024;
  const double speed = kib <= model.l2_kib   ? model.l2_bytes_per_ns
                       : kib <= model.l3_kib ? model.l3_bytes_per_ns
                                             : model.dram_bytes_per_ns;
  return static_cast<double>(bytes) / speed;
}

}  // namespace

int64_t MacCount(const ProgramImage& image, const Command& command) {
  const auto shape = [&](Field f) -> const Shape& {
    return image.tensors[static_cast<size_t>(command.Tensor(f))].shape;
  };
  const auto count = [&](Field f) { return static_cast<uint64_t>(NumElements(shape(f))); };
  const auto channels = [&](Field f) {
    return shape(f).empty() ? 1 : static_cast<uint64_t>(shape(f).back());
  };
  const uint64_t groups = std::max<uint64_t>(1, static_cast<uint64_t>(command.Get(Field::kGroups)));
  const Window w = isa::ReadWindow(command);
  const auto window =
      static_cast<uint64_t>(w.kernel_h) * static_cast<uint64_t>(w.kernel_w);  // below 2^41
  const auto product = [](uint64_t a, uint64_t b, uint64_t c) -> int64_t {
    const uint64_t all = SaturatingMul(SaturatingMul(a, b), c);
    return static_cast<int64_t>(std::min<uint64_t>(all, INT64_MAX));
  };
  switch (TraitsOf(command.opcode).macs) {
    case MacForm::kConv:
      return product(count(Field::kDst), window, channels(Field::kSrc) / groups);
    case MacForm::kConvTranspose:
      return product(count(Field::kSrc), window, channels(Field::kDst) / groups);
    case MacForm::kConvPlanar: {
      const Shape& weights = shape(Field::kWeights);
      return product(count(Field::kDst), window,
                     weights.size() < 2 ? 1 : static_cast<uint64_t>(weights[1]));
    }
    case MacForm::kDepthwise:
      return product(count(Field::kDst), window, 1);
    case MacForm::kMatMul:
      return product(count(Field::kDst), channels(Field::kSrc), 1);
    case MacForm::kNone:
      break;
  }
  return 0;
}

uint64_t ConstantBytes(const ProgramImage& image) {
  uint64_t bytes = 0;
  for (const TensorRecord& tensor : image.tensors) {
    if (tensor.region != Region::kArena) bytes += tensor.bytes();
  }
  return bytes;
}

Work WorkOf(const ProgramImage& image, const Command& command) {
  const OpSpec& op = *FindOp(command.opcode);
  Work work;
  work.macs = MacCount(image, command);
  const TensorRecord& dst = image.tensors[static_cast<size_t>(command.Tensor(Field::kDst))];
  const bool fused = command.Get(Field::kFuseWithPrevious) != 0;
  for (const FieldSpec& field : op.fields) {
    const int32_t index = IsTensor(field.kind) ? command.Tensor(field.field) : -1;
    if (index < 0) continue;
    const TensorRecord& tensor = image.tensors[static_cast<size_t>(index)];
    if (tensor.region != Region::kArena) {
      work.constants += tensor.bytes();
    } else if (!fused || tensor.offset != dst.offset) {
      work.bytes += tensor.bytes();
    }
  }
  if (op.op_class == OpClass::kInteger) work.requants = NumElements(dst.shape);
  if (IsFloatCompute(command.opcode) && work.macs == 0) {
    const TensorRecord& src = image.tensors[static_cast<size_t>(command.Tensor(Field::kSrc))];
    work.f32_elements = std::max(NumElements(src.shape), NumElements(dst.shape));
  }
  return work;
}

CostModel CostModelOf(const ProgramImage& image, const std::string& where) {
  const auto recorded = image.meta.find("cost");
  return recorded == image.meta.end() ? CostModel{} : ReadCostModel(recorded->second, where);
}

std::vector<double> EstimateNanoseconds(const ProgramImage& image, const CostModel& model) {
  const uint64_t constants = ConstantBytes(image);
  std::vector<double> estimates;
  estimates.reserve(image.commands.size());
  for (const Command& command : image.commands) {
    const Work work = WorkOf(image, command);
    const double compute = static_cast<double>(work.macs) / MacsPerNs(model, command.opcode);
    const double memory =
        ReadNs(model, work.constants, constants) + ReadNs(model, work.bytes, work.bytes);
    const double overhead = command.Get(Field::kFuseWithPrevious) != 0 ? 0 : model.command_ns;
    estimates.push_back(overhead + std::max(compute, memory) +
                        model.requant_ns * static_cast<double>(work.requants) +
                        model.f32_element_ns * static_cast<double>(work.f32_elements));
  }
  return estimates;
}

double DividedNanoseconds(const CostModel& model, double nanoseconds, int threads) {
  return model.command_ns + (nanoseconds - model.command_ns) / threads;
}

int WorthwhileThreads(double nanoseconds, int threads, double share_ns) {
  if (nanoseconds >= share_ns * threads) return threads;
  return std::max(1, static_cast<int>(nanoseconds / share_ns));
}

}  // namespace rshift
