#include "runtime/cost.h"

#include <algorithm>

namespace rshift {
namespace {

constexpr double kIntegerMacNs = 0.005, kFloatMacNs = 0.02, kByteNs = 0.1, kCommandNs = 200;

}  // namespace

int64_t MacCount(const ProgramImage& image, const Command& command) {
  const auto shape = [&](Field f) -> const Shape& {
    return image.tensors[static_cast<size_t>(command.Tensor(f))].shape;
  };
  const int64_t window = command.Get(Field::kKernelH) * command.Get(Field::kKernelW);
  const int64_t groups = std::max<int64_t>(1, command.Get(Field::kGroups));
  switch (command.opcode) {
    case Opcode::kConv:
    case Opcode::kConvF32:
      return NumElements(shape(Field::kDst)) * window * shape(Field::kSrc).back() / groups;
    case Opcode::kConvTransposeF32:
      return NumElements(shape(Field::kSrc)) * window * shape(Field::kDst).back() / groups;
    case Opcode::kDepthwise:
      return NumElements(shape(Field::kDst)) * window;
    case Opcode::kMatMul:
    case Opcode::kMatMulF32:
      return shape(Field::kSrc).empty()
                 ? 0
                 : NumElements(shape(Field::kDst)) * shape(Field::kSrc).back();
    default:
      return 0;
  }
}

uint64_t BytesMoved(const ProgramImage& image, const Command& command) {
  const auto record = [&](int32_t tensor) -> const TensorRecord& {
    return image.tensors[static_cast<size_t>(tensor)];
  };
  const bool second_half = command.Get(Field::kSamePass) != 0;
  uint64_t bytes = 0;
  for (const FieldSpec& field : FindOp(command.opcode)->fields) {
    const bool is_tensor = field.kind != FieldKind::kInt && field.kind != FieldKind::kFloat;
    const int32_t tensor = is_tensor ? command.Tensor(field.field) : -1;
    if (tensor < 0) continue;
    // What the command before has stored is in the nearest cache.
    const bool here = second_half && record(tensor).region == Region::kArena &&
                      record(tensor).offset == record(command.Tensor(Field::kDst)).offset;
    if (!here) bytes += record(tensor).bytes();
  }
  return bytes;
}

double EstimateNanoseconds(const ProgramImage& image, const Command& command) {
  const double mac_ns = IsFloatCompute(command.opcode) ? kFloatMacNs : kIntegerMacNs;
  const double command_ns = command.Get(Field::kSamePass) != 0 ? 0 : kCommandNs;
  return command_ns + mac_ns * static_cast<double>(MacCount(image, command)) +
         kByteNs * static_cast<double>(BytesMoved(image, command));
}

int WorthwhileThreads(double nanoseconds, int threads, double share_ns) {
  if (nanoseconds >= share_ns * threads) return threads;
  return std::max(1, static_cast<int>(nanoseconds / share_ns));
}

}  // namespace rshift
