// Softmax.
#include "base/error.h"
#include "quantize/ops/ops.h"

namespace rshift {

OpSupport SupportSoftmax(const Graph& graph, const Node& node, const Softmax& op,
                         const Arithmetic& rules) {
  const auto rank = static_cast<int64_t>(graph.value(node.inputs[0]).shape.size());
  const bool last = op.axis == -1 || op.axis == rank - 1;
  if (op.log || !rules.HasSoftmax()) {
    return {OpKind::kFloat, Cat(OpName(node.op), " has no integer form")};
  }
  if (!last) return {OpKind::kFloat, "it is not over the last dimension"};
  return {OpKind::kFunction, ""};
}

// Some frameworks have one output type only: a rescaling to the range's own follows.
void EmitSoftmax(Emitter& emitter, const Node& node) {
  const ValueId old_y = node.outputs[0];
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(old_y);
  const int64_t width = emitter.old().value(node.inputs[0]).shape.back();
  const SoftmaxForm form = RulesOf(emitter).MakeSoftmax(x, y, width);
  const ValueId input = emitter.Int(node.inputs[0]);
  if (form.type == y) {
    emitter.AddNode(node.name, form.op, {input}, emitter.DefineInt(old_y));
    return;
  }
  const ValueId raw = emitter.Temporary(old_y, "__raw", form.type);
  emitter.AddNode(node.name, form.op, {input}, raw);
  emitter.AddRequantize(node.name + "__rescale", raw, form.type, emitter.DefineInt(old_y), y,
                        {y.qmin(), y.qmax()});
}

}  // namespace rshift
