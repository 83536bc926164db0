// Normalizations and softmax.
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

void Lower(LoweringContext&, const Node& node, const BatchNorm&) {
  Fail(
      ErrorCode::kUnsupported, Describe(node),
      " has no command: the BatchNorm pass turns it into a multiplication and an addition; run the "
      "passes before the compiler");
}

void Lower(LoweringContext& context, const Node& node, const LayerNorm& op) {
  RequireF32(context, node);
  Command command = NewCommand(Opcode::kLayerNormF32);
  command.Set(Field::kSrc, context.Input(node, 0));
  command.Set(Field::kSrc2, context.Input(node, 1));
  command.Set(Field::kSrc3, context.Input(node, 2));
  command.Set(Field::kAxis, AxisOf(node, op.axis, context.InputValue(node, 0).shape.size()));
  command.SetFloat(Field::kEpsilonF, op.epsilon);
  command.Set(Field::kDst, context.Output(node));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const InstanceNorm& op) {
  RequireF32(context, node);
  Command command = NewCommand(Opcode::kInstanceNormF32);
  command.Set(Field::kSrc, context.Input(node, 0));
  command.Set(Field::kSrc2, context.Input(node, 1));
  command.Set(Field::kSrc3, context.Input(node, 2));
  command.SetFloat(Field::kEpsilonF, op.epsilon);
  command.Set(Field::kDst, context.Output(node));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Lrn& op) {
  RSHIFT_REQUIRE(op.size >= 1 && op.size <= (int64_t{1} << 20), ErrorCode::kUnsupported,
                 Describe(node), ": size is ", op.size, ", expected 1..", int64_t{1} << 20);
  RequireF32(context, node);
  Command command = UnaryCommand(context, node, Opcode::kLrnF32);
  command.Set(Field::kAxis, AxisOf(node, op.axis, context.InputValue(node, 0).shape.size()));
  command.Set(Field::kCount, op.size);
  command.SetFloat(Field::kAlphaF, op.alpha).SetFloat(Field::kBetaF, op.beta);
  command.SetFloat(Field::kBiasF, op.bias);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Softmax& op) {
  const size_t rank = context.InputValue(node, 0).shape.size();
  if (rank == 0) Fail(ErrorCode::kUnsupported, Describe(node), ": input is a scalar");
  RequireF32(context, node);
  Command command = UnaryCommand(context, node, Opcode::kSoftmaxF32);
  command.Set(Field::kAxis, AxisOf(node, op.axis, rank));
  command.Set(Field::kFlags, op.log ? 1 : 0);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QSoftmax& op) {
  Command command = UnaryCommand(context, node, Opcode::kSoftmax);
  command.Set(
      Field::kTable,
      context.AddConst(node.name + ".table", DType::kBytes, {sizeof(op.table)},
                       {reinterpret_cast<const uint8_t*>(op.table.data()), sizeof(op.table)}));
  command.Set(Field::kMode, static_cast<int64_t>(op.arithmetic));
  SetClamp(op.clamp, command);
  context.Emit(node, command);
}

}  // namespace rshift::lowering
