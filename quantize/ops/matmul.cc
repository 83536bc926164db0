// MatMul with constant weights [K, N]: as a convolution whose output channels are the N columns.
#include "quantize/ops/ops.h"
#include "quantize/ops/weights.h"

namespace rshift {

OpSupport SupportMatMul(const Graph& graph, const Node& node) {
  const Value& a = graph.value(node.inputs[0]);
  const Value& b = graph.value(node.inputs[1]);
  if (a.is_constant() || !b.is_constant())
    return {OpKind::kFloat, "its second operand is not constant"};
  if (b.shape.size() != 2) return {OpKind::kFloat, "its constant operand is not a matrix [K, N]"};
  if (a.shape.size() < 2) return {OpKind::kFloat, "its first operand is a vector"};
  if (node.inputs.size() > 2 && node.inputs[2].valid() &&
      !graph.value(node.inputs[2]).is_constant()) {
    return {OpKind::kFloat, "its bias is not constant"};
  }
  return {OpKind::kAlways, ""};
}

void EmitMatMul(Emitter& emitter, const Node& node, const MatMul& op) {
  const Value& w = emitter.old().value(node.inputs[1]);
  WeightRequest request = RequestOf(emitter, node);
  request.k = w.shape[0];
  request.channels = w.shape[1];
  request.channel_stride = 1;
  request.k_stride = w.shape[1];
  request.channel_axis = 1;
  request.kind = LinearKind::kFullyConnected;
  request.clamp = op.clamp;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  const ValueId x = emitter.Int(node.inputs[0]);
  const ValueId weights =
      emitter.AddWeights(w.name + "__q", w.layout, w.shape, 1, quantized.scales, quantized.weights);
  AddLinearNode(emitter, node, QMatMul{std::move(quantized.linear)}, x, weights, op.clamp);
}

}  // namespace rshift
