// Element-wise operators on two or three tensors.
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

// The integer additions take operands of the output's shape: others are broadcast into a temporary.
int32_t BroadcastInput(LoweringContext& context, const Node& node, size_t index) {
  const int32_t tensor = context.Input(node, index);
  const Value& output = context.OutputValue(node);
  if (context.InputValue(node, index).shape == output.shape) return tensor;
  const int32_t expanded =
      context.Temporary(Cat(output.name, ".input", index), context.record(tensor), output.shape);
  Command command = NewCommand(Opcode::kExpand);
  command.Set(Field::kSrc, tensor).Set(Field::kDst, expanded);
  context.Emit(node, command);
  return expanded;
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const Binary& op) {
  RequireTypes(context, node, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  Command command = NewCommand(Opcode::kBinaryF32);
  command.Set(Field::kSrc, context.Input(node, 0)).Set(Field::kSrc2, context.Input(node, 1));
  command.Set(Field::kMode, static_cast<int64_t>(op.op));
  SetClamp(op.clamp, command);
  command.Set(Field::kDst, context.Output(node));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Where&) {
  Command command = NewCommand(Opcode::kWhere);
  command.Set(Field::kSrc, context.Input(node, 0));
  command.Set(Field::kSrc2, context.Input(node, 1));
  command.Set(Field::kSrc3, context.Input(node, 2));
  command.Set(Field::kDst, context.Output(node));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QAdd& op) {
  const int32_t a = BroadcastInput(context, node, 0);
  const int32_t b = BroadcastInput(context, node, 1);
  Command command = NewCommand(op.by_float ? Opcode::kAddFloat : Opcode::kAdd);
  command.Set(Field::kSrc, a).Set(Field::kSrc2, b);
  if (!op.by_float) {
    command.Set(Field::kMultiplier, op.multiplier_a).Set(Field::kMultiplier2, op.multiplier_b);
    command.Set(Field::kRshift, op.rshift);
  }
  SetClamp(op.clamp, command);
  command.Set(Field::kDst, context.Output(node));
  context.Emit(node, command);
}

}  // namespace rshift::lowering
