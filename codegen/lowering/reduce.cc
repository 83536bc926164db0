// Reductions and selections.
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

void Lower(LoweringContext& context, const Node& node, const Reduce& op) {
  const size_t rank = context.InputValue(node, 0).shape.size();
  std::vector<int64_t> axes;
  for (const int64_t axis : op.axes) axes.push_back(AxisOf(node, axis, rank));
  switch (kReduceOperands[static_cast<size_t>(op.op)]) {
    case ReduceOperands::kFloats:
      RequireF32(context, node);
      break;
    case ReduceOperands::kNumbers:
      RequireTypes(context, node, {DType::kF32, DType::kS32, DType::kS64});
      break;
    case ReduceOperands::kAny:
      RequireTypes(context, node, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
      break;
  }
  auto command = Bound(context, node, isa::ReduceF32{.op = op.op});
  command.list = context.AddList(node.name + ".axes", axes);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const ArgMax& op) {
  RequireTypes(context, node,
               {DType::kF32, DType::kS8, DType::kU8, DType::kS16, DType::kS32, DType::kS64});
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const NonMaxSuppression& op) {
  RequireF32(context, node);
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const NonZero& op) {
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const TopK& op) {
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const Unique& op) {
  LowerAs(context, node, op);
}

}  // namespace rshift::lowering
