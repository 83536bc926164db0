// Convolution: q_y = ((sum (q_x * q_w) + bias) * Multiplier >> rshift) + Z_y; pads hold Z_x.
#include "quantize/ops/ops.h"
#include "quantize/ops/weights.h"

namespace rshift {

OpSupport SupportConv(const Graph& graph, const Node& node) {
  if (!graph.value(node.inputs[1]).is_constant())
    return {OpKind::kFloat, "its weights are not constant"};
  if (node.inputs.size() > 2 && node.inputs[2].valid() &&
      !graph.value(node.inputs[2]).is_constant()) {
    return {OpKind::kFloat, "its bias is not constant"};
  }
  return {OpKind::kAlways, ""};
}

void EmitConv(Emitter& emitter, const Node& node, const Conv& op) {
  const Value& w = emitter.old().value(node.inputs[1]);  // [OC, IC/groups, KH, KW]
  WeightRequest request;
  request.node = node.name;
  request.weights = w.constant->As<float>();
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    request.bias = emitter.old().value(node.inputs[2]).constant->As<float>();
  }
  request.channels = w.shape[0];
  request.k = w.shape[0] == 0 ? 0 : NumElements(w.shape) / w.shape[0];
  request.channel_stride = request.k;
  request.x = emitter.Type(node.inputs[0]);
  request.y = emitter.Type(node.outputs[0]);
  request.x_is_zero = emitter.IsZero(node.inputs[0]);
  request.per_channel =
      emitter.Layer(node).per_channel.value_or(emitter.options().target.per_channel_weights);
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  QConv conv{
      op.window, op.groups, std::move(quantized.channels), {}, QuantizeClamp(op.clamp, request.y)};
  const ValueId x = emitter.Int(node.inputs[0]);
  // The scales of the channels live in the records: the constant's own parameters are the identity.
  const ValueId weights = emitter.AddConstant(w.name + "__q", w.layout, w.shape,
                                              {DType::kS8, {1.0f, 0}}, quantized.weights);
  emitter.AddNode(node.name, std::move(conv), {x, weights}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
