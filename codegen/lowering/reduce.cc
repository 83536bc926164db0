// Reductions.
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

void Lower(LoweringContext& context, const Node& node, const Reduce& op) {
  const size_t rank = context.InputValue(node, 0).shape.size();
  std::vector<int64_t> axes;
  for (const int64_t axis : op.axes) axes.push_back(AxisOf(node, axis, rank));
  RequireF32(context, node);
  Command command = UnaryCommand(context, node, Opcode::kReduceF32);
  command.Set(Field::kMode, static_cast<int64_t>(op.op));
  command.Set(Field::kList, context.AddList(node.name + ".axes", axes));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const ArgMax& op) {
  RequireTypes(context, node, {DType::kF32, DType::kS8, DType::kU8, DType::kS32, DType::kS64});
  Command command = UnaryCommand(context, node, Opcode::kArgMax);
  command.Set(Field::kAxis, AxisOf(node, op.axis, context.InputValue(node, 0).shape.size()));
  command.Set(Field::kFlags, (op.min ? 1 : 0) | (op.select_last_index ? 2 : 0));
  context.Emit(node, command);
}

}  // namespace rshift::lowering
