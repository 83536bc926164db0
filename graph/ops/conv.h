// Convolution family. Weight constants stay in ONNX order in the graph (packing is codegen's
// business).
#ifndef RSHIFT_GRAPH_OPS_CONV_H_
#define RSHIFT_GRAPH_OPS_CONV_H_

#include "isa/ops/conv.h"

namespace rshift {

// inputs: x [N, IC, H, W], w [OC, IC/groups, KH, KW] (constant or not), bias [OC] (optional).
using Conv = isa::ConvF32;

// inputs: x [N, IC, H, W], w [IC, OC/groups, KH, KW], bias [OC] (optional). pads as in ONNX (they
// crop).
struct ConvTranspose {
  Window window;
  int64_t groups = 1;
  int64_t output_pad_h = 0, output_pad_w = 0;
  Clamp clamp;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_CONV_H_
