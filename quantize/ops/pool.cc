// Pools, and the mean over height and width, which is a pool of the whole image.
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

namespace {

// Of a ReduceMean: the dimensions of x that are height and width, in memory order; 0 when it is
// none over them.
int64_t HeightOf(const Value& x, const Reduce& op) {
  if (op.op != ReduceOp::kMean || x.shape.size() != 4) return 0;
  const int64_t height = x.layout == Layout::kNhwc ? 1 : 2;
  return op.axes == std::vector<int64_t>{height, height + 1} ? height : 0;
}

// The integers of x in NHWC order.
ValueId ImageOf(Emitter& emitter, const Node& node, const IntType& type, const Shape& nhwc) {
  const ValueId x = emitter.Int(node.inputs[0]);
  if (emitter.old().value(node.inputs[0]).layout == Layout::kNhwc) return x;
  const ValueId image = emitter.Temporary(node.inputs[0], "__nhwc", type, nhwc, Layout::kNhwc);
  emitter.AddNode(node.name + "__nhwc", Transpose{{0, 2, 3, 1}}, {x}, image);
  return image;
}

}  // namespace

OpSupport SupportReduce(const Graph& graph, const Node& node, const Reduce& op,
                        const Arithmetic& rules) {
  if (rules.HasMean() && HeightOf(graph.value(node.inputs[0]), op) > 0) {
    return {OpKind::kFunction, ""};
  }
  return SupportReduction(graph, node, op, rules);
}

void EmitReduce(Emitter& emitter, const Node& node, const Reduce& op) {
  const Value& x = emitter.old().value(node.inputs[0]);
  const auto height = static_cast<size_t>(HeightOf(x, op));
  if (height == 0 || emitter.HasInt16(node)) return EmitReduction(emitter, node, op);
  const ValueId old_y = node.outputs[0];
  PoolLayer layer;
  layer.window.kernel_h = layer.height = x.shape[height];
  layer.window.kernel_w = layer.width = x.shape[height + 1];
  layer.whole = layer.mean = true;
  layer.x = emitter.Type(node.inputs[0]);
  layer.y = emitter.Type(old_y);
  const isa::AveragePool pool = RulesOf(emitter).MakePool(layer).op;
  const int64_t channels = x.shape[height == 1 ? 3 : 1];
  const ValueId input =
      ImageOf(emitter, node, layer.x, {x.shape[0], layer.height, layer.width, channels});
  const Value& y = emitter.old().value(old_y);
  const Shape pooled_shape = {x.shape[0], 1, 1, channels};
  if (y.layout == Layout::kNhwc && y.shape == pooled_shape) {
    emitter.AddNode(node.name, pool, {input}, emitter.DefineInt(old_y));
    return;
  }
  const ValueId pooled = emitter.Temporary(old_y, "__pooled", layer.y, pooled_shape, Layout::kNhwc);
  emitter.AddNode(node.name, pool, {input}, pooled);
  // One element of height and width: the order of the elements is the same.
  emitter.AddNode(node.name + "__reshape", Reshape{}, {pooled}, emitter.DefineInt(old_y));
}

}  // namespace rshift
