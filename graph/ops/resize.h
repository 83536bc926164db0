// Resize / Upsample over any dimensions; the common case is H and W.
#ifndef RSHIFT_GRAPH_OPS_RESIZE_H_
#define RSHIFT_GRAPH_OPS_RESIZE_H_

#include <cstdint>
#include <vector>

#include "isa/ops/resize.h"

namespace rshift {

// `scales`: one per dimension in memory order, output / input as ONNX computes it (given, or from
// sizes).
struct Resize : isa::ResizeF32 {
  std::vector<float> scales;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_RESIZE_H_
