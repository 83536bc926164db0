// Element-wise operators on two or three tensors.
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

int32_t BroadcastInput(LoweringContext& context, const Node& node, size_t index) {
  const int32_t tensor = context.Input(node, index);
  const Value& output = context.OutputValue(node);
  const Value& value = context.InputValue(node, index);
  if (value.shape == output.shape) return tensor;
  const bool other_is_whole = context.InputValue(node, 1 - index).shape == output.shape;
  if (value.is_constant() && other_is_whole) return tensor;
  const int32_t expanded =
      context.Temporary(Cat(output.name, ".input", index), context.record(tensor), output.shape);
  context.Emit(node, isa::Expand{.dst = expanded, .src = tensor});
  return expanded;
}

void Lower(LoweringContext& context, const Node& node, const Binary& op) {
  RequireTypes(context, node, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const QDiv& op) {
  auto command = Bound<isa::Div>(context, node, op);
  command.table = context.AddNumbers(node.name + ".reciprocals", DType::kBytes, op.reciprocals);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QBinaryTable& op) {
  auto command = Bound<isa::BinaryTable>(context, node, op);
  command.table = context.AddNumbers(node.name + ".table", DType::kBytes, op.entries);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Where& op) {
  LowerAs(context, node, op);
}

}  // namespace rshift::lowering
