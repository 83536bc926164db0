// Pools, and the mean over height and width, which is a pool of the whole image.
#include "base/error.h"
#include "quantize/ops/ops.h"

namespace rshift {

// The maximum of bytes of one type is one of those bytes.
void EmitMaxPool(Emitter& emitter, const Node& node, const MaxPool& op) {
  EmitMovement(emitter, node, op);
}

void EmitAveragePool(Emitter& emitter, const Node& node, const AveragePool& op) {
  const Shape& x = emitter.old().value(node.inputs[0]).shape;  // NHWC
  PoolLayer layer;
  layer.window = op.window;
  layer.count_include_pad = op.count_include_pad;
  layer.height = x[1];
  layer.width = x[2];
  const Window whole{x[1], x[2], op.window.stride_h, op.window.stride_w};
  layer.whole = op.window == whole;
  layer.global = layer.whole && op.global;
  layer.x = emitter.Type(node.inputs[0]);
  layer.y = emitter.Type(node.outputs[0]);
  const PoolForm form = RulesOf(emitter).MakePool(layer);
  const ValueId input = emitter.Int(node.inputs[0]);
  if (form.type == layer.y) {
    emitter.AddNode(node.name, form.op, {input}, emitter.DefineInt(node.outputs[0]));
    return;
  }
  const ValueId raw = emitter.Temporary(node.outputs[0], "__raw", form.type);
  emitter.AddNode(node.name, form.op, {input}, raw);
  emitter.AddRequantize(node.name + "__rescale", raw, form.type, emitter.DefineInt(node.outputs[0]),
                        layer.y, {layer.y.qmin(), layer.y.qmax()});
}

OpSupport SupportReduce(const Graph& graph, const Node& node, const Reduce& op,
                        const Arithmetic& rules) {
  const Value& x = graph.value(node.inputs[0]);
  const bool mean = op.op == ReduceOp::kMean && x.layout == Layout::kNhwc && x.shape.size() == 4 &&
                    op.axes == std::vector<int64_t>{1, 2};
  if (mean && rules.HasMean()) return {OpKind::kFunction, ""};
  return {OpKind::kFloat, Cat(OpName(node.op), " has no integer form")};
}

void EmitReduce(Emitter& emitter, const Node& node) {
  const Shape& x = emitter.old().value(node.inputs[0]).shape;  // NHWC
  const ValueId old_y = node.outputs[0];
  PoolLayer layer;
  layer.window.kernel_h = layer.height = x[1];
  layer.window.kernel_w = layer.width = x[2];
  layer.whole = layer.mean = true;
  layer.x = emitter.Type(node.inputs[0]);
  layer.y = emitter.Type(old_y);
  const QAveragePool pool = RulesOf(emitter).MakePool(layer).op;
  const ValueId input = emitter.Int(node.inputs[0]);
  const Shape shape = {x[0], 1, 1, x[3]};
  if (emitter.old().value(old_y).shape == shape) {
    emitter.AddNode(node.name, pool, {input}, emitter.DefineInt(old_y));
    return;
  }
  const ValueId pooled = emitter.Temporary(old_y, "__pooled", layer.y, shape, Layout::kNhwc);
  emitter.AddNode(node.name, pool, {input}, pooled);
  emitter.AddNode(node.name + "__reshape", Reshape{}, {pooled}, emitter.DefineInt(old_y));
}

}  // namespace rshift
