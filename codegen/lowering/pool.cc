// Pooling.
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

Command PoolCommand(LoweringContext& context, const Node& node, const Window& window,
                    Opcode opcode) {
  RequireNhwc(node, context.InputValue(node, 0));
  RequireNhwc(node, context.OutputValue(node));
  Command command = UnaryCommand(context, node, opcode);
  SetWindow(node, window, command);
  return command;
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const MaxPool& op) {
  RequireTypes(context, node, {DType::kF32, DType::kS8, DType::kU8});
  context.Emit(node, PoolCommand(context, node, op.window, Opcode::kMaxPool));
}

void Lower(LoweringContext& context, const Node& node, const AveragePool& op) {
  RequireF32(context, node);
  Command command = PoolCommand(context, node, op.window, Opcode::kAveragePoolF32);
  command.Set(Field::kFlags, op.count_include_pad ? 1 : 0);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QAveragePool& op) {
  Command command = PoolCommand(context, node, op.window, Opcode::kAveragePool);
  command.Set(Field::kFlags, op.count_include_pad ? 1 : 0);
  SetClamp(op.clamp, command);
  command.Set(Field::kMode, static_cast<int64_t>(op.arithmetic));
  // What an arithmetic does not read stays at its default.
  const PoolParameters& reads = kPoolParameters[static_cast<size_t>(op.arithmetic)];
  if (reads.scale) command.SetFloat(Field::kScaleF, op.scale_x_over_y);
  if (reads.offset) command.SetFloat(Field::kOffsetF, op.offset);
  if (reads.words) {
    command.Set(Field::kRounding, static_cast<int64_t>(op.rounding));
    command.Set(Field::kMultiplier, op.multiplier).Set(Field::kRshift, op.rshift);
  }
  context.Emit(node, command);
}

}  // namespace rshift::lowering
