// Explicit zero padding of H and W becomes the window's own padding.
#include "graph/passes/passes.h"
#include "graph/passes/util.h"

namespace rshift {
namespace {

// A Pad that a window can take over: zeros, around H and W only, nothing cropped.
bool IsSpatialZeroPad(const Pad& pad) {
  if (pad.mode != PadMode::kConstant || pad.value != 0.0f || pad.before.size() != 4) return false;
  for (size_t d = 0; d < 4; ++d) {
    if (pad.before[d] < 0 || pad.after[d] < 0) return false;
    if (d < 2 && (pad.before[d] != 0 || pad.after[d] != 0)) return false;
  }
  return true;
}

Window Widen(Window window, const Pad& pad) {
  window.pad_top += pad.before[2];
  window.pad_left += pad.before[3];
  window.pad_bottom += pad.after[2];
  window.pad_right += pad.after[3];
  return window;
}

bool HasPads(const Window& w) {
  return w.pad_top != 0 || w.pad_left != 0 || w.pad_bottom != 0 || w.pad_right != 0;
}

// Shapes: [N, C, H, W], of the image and of what the op makes.
bool FoldInto(Op& op, const Pad& pad, const Shape& image, const Shape& result) {
  if (auto* conv = std::get_if<Conv>(&op)) {
    conv->window = Widen(conv->window, pad);
    return true;
  }
  auto* pool = std::get_if<AveragePool>(&op);
  // The padded zeros count in the divisor; a pool's own uncounted pads cannot be mixed with them.
  if (pool == nullptr || (!pool->count_include_pad && HasPads(pool->window))) return false;
  const Window window = Widen(pool->window, pad);
  // A window that lies in the pads alone is refused by common pooling kernels; with ceil_mode the
  // last one may begin there.
  if (window.pad_top >= window.kernel_h || window.pad_bottom >= window.kernel_h ||
      window.pad_left >= window.kernel_w || window.pad_right >= window.kernel_w ||
      (result[2] - 1) * window.stride_h - window.pad_top >= image[2] ||
      (result[3] - 1) * window.stride_w - window.pad_left >= image[3]) {
    return false;
  }
  pool->window = window;
  pool->count_include_pad = true;
  return true;
}

}  // namespace

Graph FoldPad(Graph graph) {
  const Links links(graph);  // what a Pad makes stays what it makes
  for (Node& node : graph.nodes()) {
    if (!std::holds_alternative<Conv>(node.op) && !std::holds_alternative<AveragePool>(node.op))
      continue;
    const Pad* pad = links.ProducerAs<Pad>(node.inputs[0]);
    if (pad == nullptr || !IsSpatialZeroPad(*pad) || links.IsOutput(node.inputs[0])) continue;
    const ValueId unpadded = links.Producer(node.inputs[0])->inputs[0];
    if (FoldInto(node.op, *pad, graph.value(unpadded).shape, graph.value(node.outputs[0]).shape)) {
      node.inputs[0] = unpadded;
    }
  }
  return Tidy(std::move(graph));
}

}  // namespace rshift
