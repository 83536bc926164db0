// A product and a sum by constants of channels, in ONNX order, as one command.
#ifndef RSHIFT_CODEGEN_PASSES_SCALE_PLANES_H_
#define RSHIFT_CODEGEN_PASSES_SCALE_PLANES_H_

#include "graph/graph.h"

namespace rshift {

// x [N, C, H, W], C > 1, times a constant [C, 1, 1], plus another: what a BatchNormalization
// without a convolution before it is. Nothing else reads the product. It becomes a convolution of
// windows of one pixel with one filter for each channel, whose command rounds product and sum as
// the two do: the same bytes, in one pass over x.
Graph ScalePlanes(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_SCALE_PLANES_H_
