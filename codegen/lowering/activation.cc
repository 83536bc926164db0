// Functions of one element.
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

// The part that QLeakyRelu and QPRelu have in common.
template <typename QRelu>
void SetRelu(const QRelu& op, Command& command) {
  command.Set(Field::kRshift, op.rshift);
  command.Set(Field::kMultiplier2, op.multiplier_positive);
  command.Set(Field::kRshift2, op.rshift_positive);
  SetClamp(op.clamp, command);
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const Clip& op) {
  RequireF32(context, node);
  Command command = UnaryCommand(context, node, Opcode::kClipF32);
  SetClamp(op.clamp, command);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const LeakyRelu& op) {
  RequireF32(context, node);
  Command command = UnaryCommand(context, node, Opcode::kLeakyReluF32);
  command.SetFloat(Field::kAlphaF, op.alpha);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const PRelu&) {
  RequireF32(context, node);
  Command command = NewCommand(Opcode::kPReluF32);
  command.Set(Field::kSrc, context.Input(node, 0)).Set(Field::kSrc2, context.Input(node, 1));
  command.Set(Field::kDst, context.Output(node));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Unary& op) {
  RequireTypes(context, node, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  Command command = UnaryCommand(context, node, Opcode::kUnaryF32);
  command.Set(Field::kMode, static_cast<int64_t>(op.op));
  command.SetFloat(Field::kAlphaF, op.alpha).SetFloat(Field::kBetaF, op.beta);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QLeakyRelu& op) {
  Command command = UnaryCommand(context, node, Opcode::kLeakyRelu);
  command.Set(Field::kMultiplier, op.multiplier);
  SetRelu(op, command);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QPRelu& op) {
  const Shape& shape = context.InputValue(node, 0).shape;
  const auto slopes = static_cast<int64_t>(op.slopes.size());
  RSHIFT_REQUIRE(slopes == 1 || (!shape.empty() && slopes == shape.back()), ErrorCode::kInternal,
                 Describe(node), ": ", slopes, " slopes for an input of shape ", ToString(shape),
                 ", expected 1 or one for each channel of the last dimension");
  Command command = UnaryCommand(context, node, Opcode::kPRelu);
  command.Set(Field::kSrc2, context.AddConst(node.name + ".slopes", DType::kS8, {slopes},
                                             {reinterpret_cast<const uint8_t*>(op.slopes.data()),
                                              op.slopes.size()}));
  SetRelu(op, command);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QTable& op) {
  Command command = UnaryCommand(context, node, Opcode::kTable);
  command.Set(Field::kTable, context.AddConst(node.name + ".table", DType::kBytes,
                                              {static_cast<int64_t>(op.table.size())}, op.table));
  context.Emit(node, command);
}

}  // namespace rshift::lowering
