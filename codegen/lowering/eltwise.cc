// Element-wise operators on two or three tensors.
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

// The integer additions take operands of the output's shape and one constant that broadcasts: any
// other is broadcast into a temporary.
int32_t BroadcastInput(LoweringContext& context, const Node& node, size_t index) {
  const int32_t tensor = context.Input(node, index);
  const Value& output = context.OutputValue(node);
  const Value& value = context.InputValue(node, index);
  if (value.shape == output.shape) return tensor;
  const bool other_is_whole = context.InputValue(node, 1 - index).shape == output.shape;
  if (value.is_constant() && other_is_whole) return tensor;
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

namespace {

// A command with both operands and, last because Output() makes the tensor, its result.
Command ByteCommand(LoweringContext& context, const Node& node, Opcode opcode,
                    const ClampQ& clamp) {
  Command command = NewCommand(opcode);
  command.Set(Field::kSrc, BroadcastInput(context, node, 0));
  command.Set(Field::kSrc2, BroadcastInput(context, node, 1));
  SetClamp(clamp, command);
  command.Set(Field::kDst, context.Output(node));
  return command;
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const QAdd& op) {
  Command command =
      ByteCommand(context, node, op.by_float ? Opcode::kAddFloat : Opcode::kAdd, op.clamp);
  if (!op.by_float) {
    command.Set(Field::kMultiplier, op.multiplier_a).Set(Field::kMultiplier2, op.multiplier_b);
    command.Set(Field::kRshift, op.rshift);
    command.Set(Field::kRounding, static_cast<int64_t>(op.rounding));
  }
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QAddShifted& op) {
  Command command = ByteCommand(context, node, Opcode::kAddShifted, op.clamp);
  command.Set(Field::kCount, op.left_shift);
  command.Set(Field::kMultiplier, op.multiplier_a).Set(Field::kRshift, op.rshift_a);
  command.Set(Field::kMultiplier2, op.multiplier_b).Set(Field::kRshift2, op.rshift_b);
  command.Set(Field::kMultiplier3, op.multiplier_y).Set(Field::kRshift3, op.rshift_y);
  command.Set(Field::kRounding, static_cast<int64_t>(op.rounding));
  command.Set(Field::kMode, static_cast<int64_t>(op.blocks));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QAddFma& op) {
  Command command = ByteCommand(context, node, Opcode::kAddFma, op.clamp);
  command.SetFloat(Field::kScaleF, op.ratio_a).SetFloat(Field::kAlphaF, op.ratio_b);
  command.SetFloat(Field::kOffsetF, op.fixed);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QMul& op) {
  Command command = ByteCommand(context, node, Opcode::kMul, op.clamp);
  command.Set(Field::kMultiplier, op.multiplier).Set(Field::kRshift, op.rshift);
  command.Set(Field::kRounding, static_cast<int64_t>(op.rounding));
  context.Emit(node, command);
}

}  // namespace rshift::lowering
