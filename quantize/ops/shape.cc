// Data movement: bytes in, the same bytes out, in the input's type. Where the output's range is
// another one (a precondition of propagation failed), a Requantize follows.
#include <utility>

#include "quantize/ops/ops.h"

namespace rshift {

void EmitMovement(Emitter& emitter, const Node& node, Op op) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType from = emitter.Type(old_x), to = emitter.Type(old_y);
  std::vector<ValueId> inputs = {emitter.Int(old_x)};
  for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(emitter.Same(node.inputs[i]));
  if (from == to) {
    emitter.AddNode(node.name, std::move(op), inputs, emitter.DefineInt(old_y));
    return;
  }
  const ValueId moved = emitter.Temporary(old_y, "__raw", from);
  emitter.AddNode(node.name, std::move(op), inputs, moved);
  emitter.AddRequantize(node.name + "__rescale", moved, from, emitter.DefineInt(old_y), to,
                        {to.qmin(), to.qmax()});
}

// x in y's type, then padded: the number may lie beyond x's range.
void EmitRescaledPad(Emitter& emitter, const Node& node, Pad op) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType from = emitter.Type(old_x), to = emitter.Type(old_y);
  const ValueId x = emitter.Temporary(old_x, "__before_" + node.name, to);
  emitter.AddRequantize(node.name + "__rescale", emitter.Int(old_x), from, x, to,
                        {to.qmin(), to.qmax()});
  op.value = static_cast<float>(RulesOf(emitter).Constant(op.value, to));
  emitter.AddNode(node.name, std::move(op), {x}, emitter.DefineInt(old_y));
}

void EmitPad(Emitter& emitter, const Node& node, const Pad& op) {
  const IntType type = emitter.Type(node.inputs[0]);
  const bool rescales = !(type == emitter.Type(node.outputs[0]));
  if (op.mode == PadMode::kConstant && op.value != 0 && rescales)
    return EmitRescaledPad(emitter, node, op);
  Pad quantized = op;
  if (op.mode == PadMode::kConstant) {
    quantized.value = static_cast<float>(RulesOf(emitter).Constant(op.value, type));
  }
  EmitMovement(emitter, node, quantized);
}

ValueId IntOfType(Emitter& emitter, ValueId old_x, const IntType& type) {
  const IntType own = emitter.Type(old_x);
  const ValueId x = emitter.Int(old_x);
  if (own == type) return x;
  const ValueId part = emitter.Temporary(old_x, "__rescaled", type);
  const Op op = RulesOf(emitter).MakeConcatPart({own, type});
  emitter.AddNode(emitter.old().value(old_x).name + "__rescaled", op, {x}, part);
  return part;
}

// Constant inputs are quantized with the output's parameters; activations are rescaled where theirs
// differ.
void EmitConcat(Emitter& emitter, const Node& node, const Concat& op) {
  const ValueId old_y = node.outputs[0];
  const IntType type = emitter.Type(old_y);
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) {
    const Value& value = emitter.old().value(id);
    if (!value.is_constant()) {
      inputs.push_back(IntOfType(emitter, id, type));
      continue;
    }
    if (type.is_s16()) {
      std::vector<int16_t> numbers;
      for (float v : value.constant->As<float>())
        numbers.push_back(static_cast<int16_t>(RulesOf(emitter).Constant(v, type)));
      inputs.push_back(emitter.AddConstant(value.name + "__q", value.layout, value.shape, type,
                                           std::span<const int16_t>(numbers)));
      continue;
    }
    std::vector<int8_t> bytes;
    for (float v : value.constant->As<float>()) {
      bytes.push_back(static_cast<int8_t>(RulesOf(emitter).Constant(v, type)));
    }
    inputs.push_back(
        emitter.AddConstant(value.name + "__q", value.layout, value.shape, type, bytes));
  }
  emitter.AddNode(node.name, op, inputs, emitter.DefineInt(old_y));
}

}  // namespace rshift
