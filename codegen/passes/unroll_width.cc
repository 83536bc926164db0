#include "codegen/passes/unroll_width.h"

#include <algorithm>
#include <utility>

#include "codegen/passes/channel_numbers.h"
#include "codegen/passes/conv_cost.h"
#include "codegen/passes/rewriter.h"

namespace rshift {
namespace {

// Of a row of `width` pixels, with what is computed beyond it.
int64_t CostOf(const ConvForms& forms, const Shape& w, int64_t pixels, int64_t width) {
  return PixelCost(forms, pixels * w[0], w[2] * (w[3] + pixels - 1), w[1]) *
         (RoundUp(width, pixels) / pixels);
}

bool UnrollWidthOf(GraphRewriter& rewriter, const Node& node, const ConvForms& forms) {
  const auto* op = std::get_if<QConv>(&node.op);
  const bool alone = node.inputs.size() < 3 || !node.inputs[2].valid();
  if (op == nullptr || !alone) return false;
  const Value& w = rewriter.OldInput(node, 1);
  if (SizeOf(rewriter.OldOutput(node).dtype) != 1) return false;
  const Shape &x = rewriter.OldInput(node, 0).shape, &y = rewriter.OldOutput(node).shape;  // NHWC
  const int64_t pixels = y.size() == 4 ? PixelsPerCommand(forms, *op, w.shape, y) : 1;
  if (pixels == 1) return false;
  QConv conv = *op;
  conv.window = WidenWindow(op->window, pixels, x[2], y[2]);
  for (int64_t j = 1; j < pixels; ++j) {
    for (size_t c = 0; c < op->channels.size(); ++c) AppendChannelNumbers(*op, c, &conv);
  }
  const int64_t columns = RoundUp(y[2], pixels) / pixels;
  const ValueId old_y = node.outputs[0], new_x = rewriter.Same(node.inputs[0]);
  const ValueId weights = rewriter.Weights(
      node, "", {pixels * w.shape[0], w.shape[1], w.shape[2], conv.window.kernel_w},
      WidenWeights(w.constant->As<int8_t>(), w.shape, pixels, op->zero_w));
  ValueId at = rewriter.Temporary(old_y, "__together", {y[0], y[1], columns, pixels * y[3]});
  rewriter.AddNode(node.name + "__together", std::move(conv), {new_x, weights}, at);
  const bool exact = columns * pixels == y[2];
  if (!exact) {
    at = rewriter.Move(node, "__full", Reshape{}, at, old_y, {y[0], y[1], columns * pixels, y[3]});
  }
  const Op last = exact ? Op(Reshape{}) : Op(Slice{{0, 0, 0, 0}, {1, 1, 1, 1}});
  rewriter.AddNode(node.name, last, {at}, rewriter.Same(old_y));
  return true;
}

}  // namespace

Graph UnrollWidth(const Graph& graph, const ConvForms& forms) {
  return RewriteNodes(graph, [&](GraphRewriter& rewriter, const Node& node) {
    return UnrollWidthOf(rewriter, node, forms);
  });
}

int64_t PixelsPerCommand(const ConvForms& forms, const QConv& op, const Shape& weights,
                         const Shape& y) {
  const Window& o = op.window;
  const int64_t width = y[2];
  if (weights[0] == 0 || weights[0] > forms.unroll_channels) return 1;
  if (y[1] * width < forms.unroll_image || op.groups != 1) return 1;
  if (o.stride_w != 1 || o.dilation_w != 1) return 1;
  int64_t best = 1;
  for (int64_t pixels = 2; pixels <= std::min(forms.unroll_pixels, width); ++pixels) {
    if (CostOf(forms, weights, pixels, width) < CostOf(forms, weights, best, width)) best = pixels;
  }
  return best;
}

Window WidenWindow(const Window& window, int64_t pixels, int64_t in, int64_t width) {
  Window wide = window;
  wide.kernel_w += pixels - 1;
  wide.stride_w = pixels;
  const int64_t columns = RoundUp(width, pixels) / pixels;
  const int64_t reach = (columns - 1) * pixels + wide.kernel_w;  // from the left pad on
  wide.pad_right = std::max<int64_t>(reach - window.pad_left - in, 0);
  return wide;
}

std::vector<int8_t> WidenWeights(std::span<const int8_t> weights, const Shape& shape,
                                 int64_t pixels, std::span<const int32_t> fill) {
  const int64_t lines = shape[1] * shape[2], kernel_w = shape[3], wide = kernel_w + pixels - 1;
  std::vector<int8_t> result;
  result.reserve(static_cast<size_t>(pixels * shape[0] * lines * wide));
  for (int64_t j = 0; j < pixels; ++j) {
    for (int64_t oc = 0; oc < shape[0]; ++oc) {
      const auto zero = static_cast<int8_t>(fill.empty() ? 0 : fill[oc]);
      for (int64_t line = 0; line < lines; ++line) {
        const auto first = weights.begin() + (oc * lines + line) * kernel_w;
        result.insert(result.end(), j, zero);
        result.insert(result.end(), first, first + kernel_w);
        result.insert(result.end(), pixels - 1 - j, zero);
      }
    }
  }
  return result;
}

}  // namespace rshift
