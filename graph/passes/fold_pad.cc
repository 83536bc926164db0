// Explicit padding of H and W becomes the window's own padding: zeros for convolutions and means;
// for maxima what is less than all numbers, and zeros around what a ReLU has made.
#include <limits>

#include "graph/passes/passes.h"
#include "graph/passes/util.h"

namespace rshift {
namespace {

// A Pad that a window can take over: with one number, around H and W only, nothing cropped.
bool IsSpatialPad(const Pad& pad) {
  if (pad.mode != PadMode::kConstant || pad.before.size() != 4) return false;
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

// A window that lies in the pads alone is refused by common pooling kernels, and a maximum of none
// would be minus infinity; with ceil_mode the last one may begin there. A dilation that is no more
// than the image cannot step over it. Shapes: [N, C, H, W].
bool TouchesImage(const Window& window, const Shape& image, const Shape& result) {
  return window.pad_top < window.kernel_h && window.pad_bottom < window.kernel_h &&
         window.pad_left < window.kernel_w && window.pad_right < window.kernel_w &&
         window.dilation_h <= image[2] && window.dilation_w <= image[3] &&
         (result[2] - 1) * window.stride_h - window.pad_top < image[2] &&
         (result[3] - 1) * window.stride_w - window.pad_left < image[3];
}

// What the Pad and the window behind it read and make.
struct Place {
  const Pad& pad;
  const Shape &image, &result;
  bool nonnegative;  // the image, as far as its operator tells
};

bool FoldIntoMean(AveragePool& pool, const Place& place) {
  // The padded zeros count in the divisor; a pool's own uncounted pads cannot be mixed with them.
  if (place.pad.value != 0 || (!pool.count_include_pad && HasPads(pool.window))) return false;
  const Window window = Widen(pool.window, place.pad);
  if (!TouchesImage(window, place.image, place.result)) return false;
  pool.window = window;
  pool.count_include_pad = true;
  return true;
}

bool FoldIntoMaximum(MaxPool& pool, const Place& place) {
  const bool least = place.pad.value <= std::numeric_limits<float>::lowest();
  if (!least && !(place.pad.value == 0 && place.nonnegative)) return false;
  const Window window = Widen(pool.window, place.pad);
  if (!TouchesImage(window, place.image, place.result)) return false;
  pool.window = window;
  return true;
}

bool FoldInto(Op& op, const Place& place) {
  if (auto* pool = std::get_if<AveragePool>(&op)) return FoldIntoMean(*pool, place);
  if (auto* pool = std::get_if<MaxPool>(&op)) return FoldIntoMaximum(*pool, place);
  auto* conv = std::get_if<Conv>(&op);
  if (conv == nullptr || place.pad.value != 0) return false;
  conv->window = Widen(conv->window, place.pad);
  return true;
}

bool IsNonnegative(const Links& links, ValueId x) {
  const Clip* clip = links.ProducerAs<Clip>(x);
  return clip != nullptr && clip->clamp.lo >= 0;
}

}  // namespace

Graph FoldPad(Graph graph) {
  const Links links(graph);  // what a Pad makes stays what it makes
  for (Node& node : graph.nodes()) {
    if (node.inputs.empty()) continue;
    const Pad* pad = links.ProducerAs<Pad>(node.inputs[0]);
    if (pad == nullptr || !IsSpatialPad(*pad) || links.IsOutput(node.inputs[0])) continue;
    const ValueId unpadded = links.Producer(node.inputs[0])->inputs[0];
    if (FoldInto(node.op, {*pad, graph.value(unpadded).shape, graph.value(node.outputs[0]).shape,
                           IsNonnegative(links, unpadded)})) {
      node.inputs[0] = unpadded;
    }
  }
  return Tidy(std::move(graph));
}

}  // namespace rshift
