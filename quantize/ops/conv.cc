// Convolution: q_y = ((sum (q_x * q_w) + bias) * Multiplier >> rshift) + Z_y; pads hold Z_x.
#include <utility>

#include "quantize/ops/linear_node.h"
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

namespace {

LinearKind KindOf(const Conv& op, const Shape& w, int64_t input_channels) {
  if (op.groups > 1 && op.groups == input_channels) return LinearKind::kDepthwise;
  if (op.groups > 1) return LinearKind::kGrouped;
  const bool one = w[2] == 1 && w[3] == 1;
  return one ? LinearKind::kPointwise : LinearKind::kGeneral;
}

}  // namespace

void EmitConv(Emitter& emitter, const Node& node, const Conv& op) {
  const Value& w = emitter.old().value(node.inputs[1]);  // [OC, IC/groups, KH, KW]
  WeightRequest request = RequestOf(emitter, node);
  request.channels = w.shape[0];
  request.k = w.shape[0] == 0 ? 0 : NumElements(w.shape) / w.shape[0];
  request.channel_stride = request.k;
  request.channel_axis = 0;
  request.kind = KindOf(op, w.shape, w.shape[1] * op.groups);
  request.depth_multiplier = request.kind == LinearKind::kDepthwise && w.shape[0] > op.groups;
  request.clamp = op.clamp;
  const ProductInput input = InputOfProduct(emitter, node);
  request.x = input.type;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  QConv conv{std::move(quantized.linear), op.window, op.groups, {}};
  if (request.x.channel_zeros != nullptr) {
    for (const int32_t zero : *request.x.channel_zeros)
      conv.zero_x.push_back(static_cast<uint8_t>(zero));
  }
  const ValueId weights = emitter.AddWeights(w.name + "__q", w.layout, w.shape, 0, quantized.scales,
                                             quantized.weights, quantized.bits);
  if (input.type.is_s16()) {
    RequireOneFactor(node, conv);
    QConvS16 wide{
        {.clamp = conv.clamp, .rounding = conv.rounding, .window = op.window, .groups = op.groups},
        std::move(conv.channels)};
    return AddLinearNode(emitter, node, std::move(wide), input.x, weights, op.clamp);
  }
  AddLinearNode(emitter, node, std::move(conv), input.x, weights, op.clamp);
}

}  // namespace rshift
