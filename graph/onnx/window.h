// Sliding-window attributes, shared by convolution and pooling: kernel_shape, strides, dilations,
// pads, auto_pad, ceil_mode. 1-D operators get height 1.
#ifndef RSHIFT_GRAPH_ONNX_WINDOW_H_
#define RSHIFT_GRAPH_ONNX_WINDOW_H_

#include "graph/onnx/node.h"

namespace rshift {

struct Size2 {
  int64_t h = 1, w = 1;
};

// The spatial dimensions of x as height and width; throws kUnsupported unless x has 3 or 4
// dimensions.
Size2 SpatialSize(const OnnxNode& node, const Shape& x);
// [n, c, h, w] for 2-D operators, [n, c, w] for 1-D ones.
Shape WithSpatial(int64_t n, int64_t c, Size2 size, size_t rank);
// Kernel, strides, dilations and explicit pads; pads are zero under auto_pad.
Window ReadWindow(const OnnxNode& node, Size2 kernel, size_t rank);
// kernel_shape as the attribute says it (required).
Size2 ReadKernelShape(const OnnxNode& node, size_t rank);
// Computes the pads of auto_pad SAME_*, and the output size. Throws kInvalidInput when nothing is
// left.
Size2 ResolveWindow(const OnnxNode& node, Window& window, Size2 in, bool ceil_mode);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_WINDOW_H_
