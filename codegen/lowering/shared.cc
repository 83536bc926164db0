// What the lowering of several operator families shares.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "codegen/lowering/lowering.h"
#include "isa/ops/field_list.h"

namespace rshift::lowering {

std::string Describe(const Node& node) { return Cat(node.name, " (", OpName(node.op), ")"); }

Command UnaryCommand(LoweringContext& context, const Node& node, Opcode opcode) {
  Command command = NewCommand(opcode);
  command.Set(Field::kSrc, context.Input(node, 0));
  return command.Set(Field::kDst, context.Output(node));
}

void RequireWindow(const Node& node, const Window& window) {
  isa::WindowFields(window, [&](const FieldSpec& spec, int64_t value) {
    RSHIFT_REQUIRE(value >= spec.lo && value <= spec.hi, ErrorCode::kUnsupported, Describe(node),
                   ": ", Name(spec.field), " is ", value, ", expected ", spec.lo, "..", spec.hi,
                   value < 0 ? ": put a Slice before the node instead of a negative pad" : "");
  });
}

void SetWindow(const Node& node, const Window& window, Command& command) {
  RequireWindow(node, window);
  isa::WindowFields(window, isa::WriteField{command});
}

void SetClamp(const Clamp& clamp, Command& command) {
  command.SetFloat(Field::kClampLoF, clamp.lo).SetFloat(Field::kClampHiF, clamp.hi);
}

void SetClamp(const ClampQ& clamp, Command& command) {
  command.Set(Field::kClampLoQ, clamp.lo).Set(Field::kClampHiQ, clamp.hi);
}

int64_t AxisOf(const Node& node, int64_t axis, size_t rank) {
  const auto dims = static_cast<int64_t>(rank);
  RSHIFT_REQUIRE(axis >= -dims && axis < dims, ErrorCode::kInvalidInput, Describe(node),
                 ": axis is ", axis, ", expected one of ", dims, " dimensions");
  return axis < 0 ? axis + dims : axis;
}

int32_t AddRequant(LoweringContext& context, const Node& node,
                   std::span<const ChannelRequant> channels, int64_t expected) {
  RSHIFT_REQUIRE(static_cast<int64_t>(channels.size()) == expected, ErrorCode::kInternal,
                 Describe(node), ": ", channels.size(), " requantization records, expected ",
                 expected);
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(channels.data()),
                                       channels.size_bytes());
  return context.AddConst(node.name + ".requant", DType::kBytes,
                          {static_cast<int64_t>(bytes.size())}, bytes);
}

void SetZeroW(LoweringContext& context, const Node& node, std::span<const int32_t> zero_w,
              int64_t expected, Command& command) {
  if (std::all_of(zero_w.begin(), zero_w.end(), [](int32_t zero) { return zero == 0; })) return;
  RSHIFT_REQUIRE(static_cast<int64_t>(zero_w.size()) == expected, ErrorCode::kInternal,
                 Describe(node), ": ", zero_w.size(), " weight zero points, expected ", expected);
  command.Set(Field::kZeroW, context.AddConst(node.name + ".zero_w", DType::kS32, {expected},
                                              {reinterpret_cast<const uint8_t*>(zero_w.data()),
                                               zero_w.size_bytes()}));
}

void SetEpilogue(LoweringContext& context, const Node& node, Rounding rounding,
                 std::span<const PostOp> post_ops, const HalfEpilogue& ascend, Command& command) {
  command.Set(Field::kRounding, static_cast<int64_t>(rounding));
  if (!post_ops.empty()) {
    std::vector<float> list;
    bool sums = false;
    for (const PostOp& p : post_ops) {
      list.insert(list.end(), {static_cast<float>(p.kind), p.alpha, p.beta, p.scale});
      sums = sums || p.kind == PostOpKind::kSum;
    }
    command.Set(Field::kList,
                context.AddConst(
                    node.name + ".post_ops", DType::kF32, {static_cast<int64_t>(list.size())},
                    {reinterpret_cast<const uint8_t*>(list.data()), list.size() * sizeof(float)}));
    if (sums) command.Set(Field::kSrc2, context.Input(node, 2));
  }
  if (rounding != Rounding::kHalfFloat) return;
  command.Set(Field::kFlags,
              (ascend.relu ? 1 : 0) | (ascend.sqrt_dequant ? 2 : 0) | (ascend.sqrt_quant ? 4 : 0));
  command.Set(Field::kMode, static_cast<int64_t>(ascend.mode));
  command.SetFloat(Field::kScaleF, ascend.quant_scale);
  command.SetFloat(Field::kOffsetF, ascend.quant_offset);
}

void RequireNhwc(const Node& node, const Value& value) {
  RSHIFT_REQUIRE(value.layout == Layout::kNhwc && value.shape.size() == 4, ErrorCode::kUnsupported,
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
