// Convolution: q_y = ((sum (q_x * q_w) + bias) * Multiplier >> rshift) + Z_y; pads hold Z_x.
#include <utility>

#include "quantize/ops/merge_groups.h"
#include "quantize/ops/ops.h"
#include "quantize/ops/unroll_output_width.h"
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

// A larger depthwise multiplier stays a grouped convolution: each group has channels enough for a
// register tile.
constexpr int64_t kMostRepeats = 32;

// Output channels of each group, where a group is one channel of x; else 1.
int64_t Repeats(const Conv& op, const Shape& w, const Shape& x) {
  const bool depthwise = op.groups > 1 && w[1] == 1 && x.size() == 4 && x[3] == op.groups;
  const int64_t repeats = w[0] / op.groups;
  return depthwise && repeats <= kMostRepeats ? repeats : 1;
}

// x with each channel `repeats` times: a depthwise multiplier made of depthwise.
ValueId Repeat(Emitter& emitter, const Node& node, int64_t repeats) {
  const ValueId old_x = node.inputs[0];
  const Shape x = emitter.old().value(old_x).shape;  // NHWC
  ValueId at = emitter.Int(old_x);
  const auto step = [&](const char* suffix, Op op, const Shape& shape, Layout layout) {
    at = emitter.AddStep(node, suffix, std::move(op), at, node.outputs[0], emitter.Type(old_x),
                         shape, layout);
  };
  step("__apart", Reshape{}, {x[0], x[1], x[2], x[3], 1}, Layout::kPlain);
  step("__repeated", Expand{}, {x[0], x[1], x[2], x[3], repeats}, Layout::kPlain);
  step("__channels", Reshape{}, {x[0], x[1], x[2], x[3] * repeats}, Layout::kNhwc);
  return at;
}

// y from a convolution that computes `pixels` of its pixels as channels of one.
void EmitColumns(Emitter& emitter, const Node& node, QConv conv, int64_t pixels,
                 const QuantizedWeights& weights) {
  const Value& w = emitter.old().value(node.inputs[1]);
  const ValueId old_y = emitter.PostOps(node).y;
  const IntType type = emitter.Type(old_y);
  const Shape& x = emitter.old().value(node.inputs[0]).shape;
  const Shape y = emitter.old().value(node.outputs[0]).shape;  // NHWC
  const std::vector<int8_t> wide = WidenWeights(weights.weights, w.shape, pixels, conv.zero_w);
  conv.window = WidenWindow(conv.window, pixels, x[2], y[2]);
  for (size_t i = 0, n = conv.channels.size(); i < n * (pixels - 1); ++i) {
    conv.channels.push_back(conv.channels[i]);
    if (!conv.zero_w.empty()) conv.zero_w.push_back(conv.zero_w[i]);
  }
  const int64_t columns = (y[2] + pixels - 1) / pixels;
  const ValueId constant = emitter.AddWeights(
      w.name + "__q", w.layout, {pixels * w.shape[0], w.shape[1], w.shape[2], conv.window.kernel_w},
      0, weights.scales, wide);
  const ValueId together = emitter.Temporary(old_y, "__together", type,
                                             {y[0], y[1], columns, pixels * y[3]}, Layout::kNhwc);
  emitter.AddNode(node.name + "__together", std::move(conv),
                  {emitter.Int(node.inputs[0]), constant}, together);
  if (columns * pixels == y[2]) {
    return emitter.AddNode(node.name, Reshape{}, {together}, emitter.DefineInt(old_y));
  }
  const ValueId full = emitter.AddStep(node, "__full", Reshape{}, together, old_y, type,
                                       {y[0], y[1], columns * pixels, y[3]}, Layout::kNhwc);
  emitter.AddNode(node.name, Slice{{0, 0, 0, 0}, {1, 1, 1, 1}}, {full}, emitter.DefineInt(old_y));
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
  request.clamp = op.clamp;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  const int64_t repeats = Repeats(op, w.shape, emitter.old().value(node.inputs[0]).shape);
  QConv conv{op.window,
             op.groups * repeats,
             std::move(quantized.channels),
             std::move(quantized.zero_w),
             quantized.form.clamp,
             quantized.form.rounding,
             std::move(quantized.form.post_ops),
             quantized.form.ascend};
  const Shape& y = emitter.old().value(node.outputs[0]).shape;
  const FusedPostOps fused = emitter.PostOps(node);
  const bool images = y.size() == 4 && !fused.addend.valid() && !fused.real;
  const int64_t pixels = images ? PixelsPerCommand(op, w.shape, y) : 1;
  if (pixels > 1) return EmitColumns(emitter, node, std::move(conv), pixels, quantized);
  const bool depthwise = repeats > 1 || (w.shape[1] == 1 && w.shape[0] == op.groups);
  std::vector<int8_t> values = std::move(quantized.weights);
  Shape shape = w.shape;
  if (const int64_t together = depthwise ? 1 : GroupsPerCommand(op.groups, w.shape); together > 1) {
    values = JoinGroups(values, shape, op.groups, together, conv.zero_w);
    shape[1] *= together;
    conv.groups /= together;
  }
  const ValueId x = repeats > 1 ? Repeat(emitter, node, repeats) : emitter.Int(node.inputs[0]);
  const ValueId weights =
      emitter.AddWeights(w.name + "__q", w.layout, shape, 0, quantized.scales, values);
  AddLinearNode(emitter, node, std::move(conv), x, weights);
}

}  // namespace rshift
