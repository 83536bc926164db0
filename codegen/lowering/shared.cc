// What the lowering of several operator families shares.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

std::string Describe(const Node& node) { return Cat(node.name, " (", OpName(node.op), ")"); }

Command UnaryCommand(LoweringContext& context, const Node& node, Opcode opcode) {
  Command command = NewCommand(opcode);
  command.Set(Field::kSrc, context.Input(node, 0));
  return command.Set(Field::kDst, context.Output(node));
}

void SetWindow(const Node& node, const Window& window, Command& command) {
  const auto set = [&](Field field, int64_t value, int64_t lowest) {
    Require(value >= lowest && value <= (int64_t{1} << 20), ErrorCode::kUnsupported, Describe(node),
            ": ", Name(field), " is ", value, ", expected ", lowest, "..", int64_t{1} << 20,
            value < 0 ? ": put a Slice before the node instead of a negative pad" : "");
    command.Set(field, value);
  };
  set(Field::kKernelH, window.kernel_h, 1);
  set(Field::kKernelW, window.kernel_w, 1);
  set(Field::kStrideH, window.stride_h, 1);
  set(Field::kStrideW, window.stride_w, 1);
  set(Field::kDilationH, window.dilation_h, 1);
  set(Field::kDilationW, window.dilation_w, 1);
  set(Field::kPadTop, window.pad_top, 0);
  set(Field::kPadLeft, window.pad_left, 0);
  set(Field::kPadBottom, window.pad_bottom, 0);
  set(Field::kPadRight, window.pad_right, 0);
}

void SetClamp(const Clamp& clamp, Command& command) {
  command.SetFloat(Field::kClampLoF, clamp.lo).SetFloat(Field::kClampHiF, clamp.hi);
}

void SetClamp(const ClampQ& clamp, Command& command) {
  command.Set(Field::kClampLoQ, clamp.lo).Set(Field::kClampHiQ, clamp.hi);
}

int64_t AxisOf(const Node& node, int64_t axis, size_t rank) {
  const auto dims = static_cast<int64_t>(rank);
  Require(axis >= -dims && axis < dims, ErrorCode::kInvalidInput, Describe(node), ": axis is ",
          axis, ", expected one of ", dims, " dimensions");
  return axis < 0 ? axis + dims : axis;
}

int32_t AddRequant(LoweringContext& context, const Node& node,
                   std::span<const ChannelRequant> channels, int64_t expected) {
  Require(static_cast<int64_t>(channels.size()) == expected, ErrorCode::kInternal, Describe(node),
          ": ", channels.size(), " requantization records, expected ", expected);
  std::vector<uint8_t> bytes(channels.size() * sizeof(RequantRecord));
  for (size_t i = 0; i < channels.size(); ++i) {
    const ChannelRequant& channel = channels[i];
    Require(channel.rshift >= 0 && channel.rshift <= 62, ErrorCode::kInternal, Describe(node),
            ": channel ", i, ": rshift is ", channel.rshift, ", expected 0..62");
    RequantRecord record;
    record.bias = channel.bias;
    record.multiplier = channel.multiplier;
    record.rshift = static_cast<uint8_t>(channel.rshift);
    std::memcpy(bytes.data() + i * sizeof(record), &record, sizeof(record));
  }
  return context.AddConst(node.name + ".requant", DType::kBytes,
                          {static_cast<int64_t>(bytes.size())}, bytes);
}

void RequireNoWeightZeroPoint(const Node& node, std::span<const int32_t> zero_w) {
  for (const int32_t zero : zero_w) {
    Require(zero == 0, ErrorCode::kUnsupported, Describe(node), ": weight zero point is ", zero,
            ", expected 0: the integer kernels take symmetric weights");
  }
}

void RequireNhwc(const Node& node, const Value& value) {
  Require(value.layout == Layout::kNhwc && value.shape.size() == 4, ErrorCode::kUnsupported,
          Describe(node), ": '", value.name, "' of shape ", ToString(value.shape),
          " is not in NHWC layout: run the layout pass before the compiler");
}

void RequireTypes(LoweringContext& context, const Node& node, std::initializer_list<DType> types) {
  for (const ValueId id : node.inputs) {
    if (!id.valid()) continue;
    const Value& value = context.graph().value(id);
    if (std::find(types.begin(), types.end(), value.dtype) != types.end()) continue;
    std::string expected;
    for (const DType type : types) expected += Cat(expected.empty() ? "" : " or ", Name(type));
    Fail(ErrorCode::kUnsupported, Describe(node), ": input '", value.name,
         "' has elements of type ", Name(value.dtype), ", expected ", expected);
  }
}

}  // namespace rshift::lowering
