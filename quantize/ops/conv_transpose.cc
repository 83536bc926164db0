// Transposed convolution: the sums of the definition, one weight scale for each output channel.
#include <algorithm>
#include <utility>

#include "quantize/ops/linear_node.h"
#include "quantize/ops/ops.h"
#include "quantize/ops/weights.h"

namespace rshift {
namespace {

// So many convolutions at most, or what they compute is no longer worth them.
constexpr int64_t kMostParts = 1024, kMostStride = 4096;

// How many windows the phases of one dimension have at most (codegen/passes/subpixel_phases.h): one
// may hold them all where the dilation divides the stride.
int64_t MostWindows(int64_t kernel, int64_t stride, int64_t dilation) {
  return kernel == 1 || stride % dilation == 0 ? 1 : std::min(stride, 2 * kernel + 1);
}

bool NeedsTooMany(const ConvTranspose& op) {
  const Window& o = op.window;
  if (op.groups > 1) return o.stride_h * o.stride_w > kMostParts;
  const int64_t rows = MostWindows(o.kernel_h, o.stride_h, o.dilation_h);
  const int64_t columns = MostWindows(o.kernel_w, o.stride_w, o.dilation_w);
  return (columns == 1 ? rows : o.stride_h * columns) > kMostParts;
}

struct Kernels {
  Shape shape;  // [OC, IC / g, KH, KW]
  std::vector<float> weights;
  std::shared_ptr<QuantizedOrigin> origin;
};

// Index in the operator's weights [IC, OC / g, KH, KW] of every element of [OC, IC / g, KH, KW].
std::vector<int64_t> OrderByOutput(const Shape& w, int64_t groups) {
  const int64_t icg = w[0] / groups, ocg = w[1], taps = w[2] * w[3];
  std::vector<int64_t> order;
  for (int64_t oc = 0; oc < groups * ocg; ++oc) {
    const int64_t group = oc / ocg;
    for (int64_t ic = 0; ic < icg; ++ic) {
      const int64_t first = ((group * icg + ic) * ocg + oc % ocg) * taps;
      for (int64_t tap = 0; tap < taps; ++tap) order.push_back(first + tap);
    }
  }
  return order;
}

Kernels ByOutput(const Value& w, int64_t groups) {
  Kernels kernels;
  kernels.shape = {w.shape[1] * groups, w.shape[0] / groups, w.shape[2], w.shape[3]};
  const std::vector<int64_t> order = OrderByOutput(w.shape, groups);
  const auto old = w.constant->As<float>();
  for (int64_t at : order) kernels.weights.push_back(old[at]);
  if (w.origin == nullptr) return kernels;
  kernels.origin = std::make_shared<QuantizedOrigin>(*w.origin);
  if (kernels.origin->axis == 1) kernels.origin->axis = 0;
  std::vector<uint8_t> bytes;
  bytes.reserve(order.size());
  for (int64_t at : order) bytes.push_back(w.origin->integers->bytes[at]);
  kernels.origin->integers = MakeConstant(std::span<const uint8_t>(bytes));
  return kernels;
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
  if (std::max(op.window.stride_h, op.window.stride_w) > kMostStride) {
    return {OpKind::kFloat, "its stride is above 4096"};
  }
  if (NeedsTooMany(op)) {
    return {OpKind::kFloat, "its strides would need more than 1024 convolutions"};
  }
  return {OpKind::kAlways, ""};
}

void EmitConvTranspose(Emitter& emitter, const Node& node, const ConvTranspose& op) {
  const Shape& x = emitter.old().value(node.inputs[0]).shape;
  const Kernels kernels = ByOutput(emitter.old().value(node.inputs[1]), op.groups);
  WeightRequest request = RequestOf(emitter, node);
  request.weights = kernels.weights;
  request.weights_origin = kernels.origin.get();
  request.channels = kernels.shape[0];
  request.k = kernels.shape[1] * kernels.shape[2] * kernels.shape[3];
  request.channel_stride = request.k;
  request.kind =
      op.groups > 1 && op.groups == x[3] ? LinearKind::kDepthwise : LinearKind::kTransposed;
  request.clamp = op.clamp;
  const ProductInput input = InputOfProduct(emitter, node);
  request.x = input.type;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  QConv conv{std::move(quantized.linear), op.window, op.groups, {}};
  const Value& w = emitter.old().value(node.inputs[1]);
  const ValueId weights = emitter.AddWeights(w.name + "__q", w.layout, kernels.shape, 0,
                                             quantized.scales, quantized.weights, quantized.bits);
  AddLinearNode(emitter, node, QConvTranspose{std::move(conv)}, input.x, weights, op.clamp);
}

}  // namespace rshift
