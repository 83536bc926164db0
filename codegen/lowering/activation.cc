// Functions of one element.
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

void Lower(LoweringContext& context, const Node& node, const Unary& op) {
  RequireTypes(context, node, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  RSHIFT_REQUIRE(!op.scales_channels(), ErrorCode::kInternal, Describe(node),
                 ": scales of channels are to be split off first (passes/split_channel_scales.h)");
  LowerAs<isa::UnaryF32>(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const QPRelu& op) {
  const Shape& shape = context.InputValue(node, 0).shape;
  const auto slopes = static_cast<int64_t>(op.slopes.size());
  RSHIFT_REQUIRE(slopes == 1 || (!shape.empty() && slopes == shape.back()), ErrorCode::kInternal,
                 Describe(node), ": ", slopes, " slopes for an input of shape ", ToString(shape),
                 ", expected 1 or one for each channel of the last dimension");
  auto command = Bound<isa::PRelu>(context, node, op);
  command.src2 = context.AddNumbers(node.name + ".slopes", DType::kS8, op.slopes);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QTable& op) {
  auto command = Bound<isa::Table>(context, node, op);
  command.table = context.AddNumbers(node.name + ".table", DType::kBytes, op.entries);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QChannelTables& op) {
  const Shape& shape = context.InputValue(node, 0).shape;
  const auto channels = static_cast<int64_t>(op.table_of_channel.size());
  RSHIFT_REQUIRE(!shape.empty() && channels == shape.back(), ErrorCode::kInternal, Describe(node),
                 ": tables of ", channels, " channels for an input of shape ", ToString(shape));
  auto command = Bound<isa::ChannelTables>(context, node, op);
  command.src2 =
      context.AddNumbers(node.name + ".table_of_channel", DType::kU8, op.table_of_channel);
  command.table = context.AddNumbers(node.name + ".tables", DType::kBytes, op.entries);
  context.Emit(node, command);
}

}  // namespace rshift::lowering
