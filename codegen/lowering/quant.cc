// Between f32 and integers, and from one scale to another.
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

void Lower(LoweringContext& context, const Node& node, const Quantize& op) {
  Command command = UnaryCommand(context, node, Opcode::kQuantize);
  command.Set(Field::kMode, static_cast<int64_t>(op.rounding));
  context.Emit(node, command.Set(Field::kFlags, op.by_reciprocal ? 1 : 0));
}

void Lower(LoweringContext& context, const Node& node, const Dequantize&) {
  context.Emit(node, UnaryCommand(context, node, Opcode::kDequantize));
}

void Lower(LoweringContext& context, const Node& node, const Requantize& op) {
  Command command = UnaryCommand(context, node, Opcode::kRequantize);
  command.Set(Field::kMultiplier, op.multiplier).Set(Field::kRshift, op.rshift);
  SetClamp(op.clamp, command);
  context.Emit(node, command);
}

}  // namespace rshift::lowering
