// Transposed convolution as data movement and a convolution, exactly: stride - 1 zeros (bytes of
// value Z_x) after every row and column, then stride 1 with the kernels turned by 180 degrees.
//   y[o] = sum over i, k with i * stride + k * dilation - pad = o of x[i] w[k]
//        = sum over k' of stuffed[o + k' * dilation - (K - 1) * dilation + pad] w[K - 1 - k']
#include <algorithm>

#include "base/error.h"
#include "quantize/ops/ops.h"
#include "quantize/ops/weights.h"

namespace rshift {
namespace {

// One spatial dimension of the stuffed image: what the convolution pads (>= 0) or what a Slice cuts
// off (a negative pad).
struct Axis {
  int64_t size = 0, cut_before = 0, cut_after = 0, pad_before = 0, pad_after = 0;
};

Axis MakeAxis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
              int64_t pad) {
  const int64_t reach = (kernel - 1) * dilation;
  const int64_t before = reach - pad;
  const int64_t after = out + reach - in * stride - before;  // out = before + size + after - reach
  Axis axis;
  axis.size = in * stride;
  axis.pad_before = std::max<int64_t>(before, 0);
  axis.cut_before = std::max<int64_t>(-before, 0);
  axis.pad_after = std::max<int64_t>(after, 0);
  axis.cut_after = std::max<int64_t>(-after, 0);
  return axis;
}

struct Kernels {
  Shape shape;  // [OC, IC / g, KH, KW]
  std::vector<float> weights;
  std::shared_ptr<QuantizedOrigin> origin;
};

// Index in the operator's weights [IC, OC / g, KH, KW] of every element of [OC, IC / g, KH, KW].
std::vector<int64_t> TurnedOrder(const Shape& w, int64_t groups) {
  const int64_t icg = w[0] / groups, ocg = w[1], taps = w[2] * w[3];
  std::vector<int64_t> order;
  for (int64_t oc = 0; oc < groups * ocg; ++oc) {
    const int64_t group = oc / ocg;
    for (int64_t ic = 0; ic < icg; ++ic) {
      const int64_t first = ((group * icg + ic) * ocg + oc % ocg) * taps;
      for (int64_t tap = taps - 1; tap >= 0; --tap) order.push_back(first + tap);
    }
  }
  return order;
}

Kernels Turn(const Value& w, int64_t groups) {
  Kernels kernels;
  kernels.shape = {w.shape[1] * groups, w.shape[0] / groups, w.shape[2], w.shape[3]};
  const std::vector<int64_t> order = TurnedOrder(w.shape, groups);
  const auto old = w.constant->As<float>();
  for (int64_t at : order) kernels.weights.push_back(old[at]);
  if (w.origin == nullptr) return kernels;
  kernels.origin = std::make_shared<QuantizedOrigin>(*w.origin);
  if (kernels.origin->axis == 1) kernels.origin->axis = 0;
  std::vector<uint8_t> bytes;
  for (int64_t at : order) bytes.push_back(w.origin->integers->bytes[at]);
  kernels.origin->integers = MakeConstant(std::span<const uint8_t>(bytes));
  return kernels;
}

// The stuffed (and cut) image of x: Reshape, Pad, Reshape, Slice, as far as needed.
ValueId Stuff(Emitter& emitter, const Node& node, const Window& window, const Axis& h,
              const Axis& w) {
  const ValueId old_x = node.inputs[0];
  const Shape x = emitter.old().value(old_x).shape;  // NHWC
  const IntType type = emitter.Type(old_x);
  ValueId at = emitter.Int(old_x);
  const auto step = [&](const char* suffix, Op op, const Shape& shape, Layout layout) {
    const ValueId made = emitter.Temporary(node.outputs[0], suffix, type, shape, layout);
    emitter.AddNode(node.name + suffix, std::move(op), {at}, made);
    at = made;
  };
  if (window.stride_h > 1 || window.stride_w > 1) {
    step("__apart", Reshape{}, {x[0], x[1], 1, x[2], 1, x[3]}, Layout::kPlain);
    Pad pad;
    pad.before.assign(6, 0);
    pad.after = {0, 0, window.stride_h - 1, 0, window.stride_w - 1, 0};
    pad.value = static_cast<float>(type.quant.zero_point);
    step("__zeros", pad, {x[0], x[1], window.stride_h, x[2], window.stride_w, x[3]},
         Layout::kPlain);
    step("__stuffed", Reshape{}, {x[0], h.size, w.size, x[3]}, Layout::kNhwc);
  }
  if (h.cut_before + h.cut_after + w.cut_before + w.cut_after > 0) {
    const Slice slice{{0, h.cut_before, w.cut_before, 0}, {1, 1, 1, 1}};
    step("__cut", slice,
         {x[0], h.size - h.cut_before - h.cut_after, w.size - w.cut_before - w.cut_after, x[3]},
         Layout::kNhwc);
  }
  return at;
}

}  // namespace

OpSupport SupportConvTranspose(const Graph& graph, const Node& node, const ConvTranspose& op) {
  const Value& w = graph.value(node.inputs[1]);
  if (!w.is_constant()) return {OpKind::kFloat, "its weights are not constant"};
  if (node.inputs.size() > 2 && node.inputs[2].valid() &&
      !graph.value(node.inputs[2]).is_constant()) {
    return {OpKind::kFloat, "its bias is not constant"};
  }
  if (graph.value(node.inputs[0]).layout != Layout::kNhwc) {
    return {OpKind::kFloat, "its input is not an image"};
  }
  if (w.origin != nullptr && w.origin->scales.size() > 1 &&
      !(w.origin->axis == 1 && op.groups == 1)) {
    return {OpKind::kFloat, "its quantized weights have scales that are not of output channels"};
  }
  return {OpKind::kAlways, ""};
}

void EmitConvTranspose(Emitter& emitter, const Node& node, const ConvTranspose& op) {
  const Value& w = emitter.old().value(node.inputs[1]);
  const Shape& x = emitter.old().value(node.inputs[0]).shape;
  const Shape& y = emitter.old().value(node.outputs[0]).shape;
  const Window& o = op.window;
  const Axis h = MakeAxis(x[1], y[1], o.kernel_h, o.stride_h, o.dilation_h, o.pad_top);
  const Axis v = MakeAxis(x[2], y[2], o.kernel_w, o.stride_w, o.dilation_w, o.pad_left);
  const Kernels kernels = Turn(w, op.groups);
  WeightRequest request = RequestOf(emitter, node);
  request.weights = kernels.weights;
  request.weights_origin = kernels.origin.get();
  request.channels = kernels.shape[0];
  request.k = kernels.shape[1] * kernels.shape[2] * kernels.shape[3];
  request.channel_stride = request.k;
  request.kind = op.groups > 1 && op.groups == x[3] ? LinearKind::kDepthwise : LinearKind::kGeneral;
  request.clamp = op.clamp;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  QConv conv;
  conv.window = {o.kernel_h,   o.kernel_w,   1,           1,          o.dilation_h, o.dilation_w,
                 h.pad_before, v.pad_before, h.pad_after, v.pad_after};
  conv.groups = op.groups;
  conv.channels = std::move(quantized.channels);
  conv.zero_w = std::move(quantized.zero_w);
  conv.clamp = quantized.form.clamp;
  conv.rounding = quantized.form.rounding;
  conv.post_ops = std::move(quantized.form.post_ops);
  conv.ascend = quantized.form.ascend;
  const ValueId stuffed = Stuff(emitter, node, o, h, v);
  const ValueId weights = emitter.AddConstant(w.name + "__q", w.layout, kernels.shape,
                                              {DType::kS8, {1.0f, 0}}, quantized.weights);
  AddLinearNode(emitter, node, std::move(conv), stuffed, weights);
}

}  // namespace rshift
