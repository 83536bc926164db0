// Resize / Upsample over any dimensions; the common case is H and W.
#ifndef RSHIFT_GRAPH_OPS_RESIZE_H_
#define RSHIFT_GRAPH_OPS_RESIZE_H_

#include <cstdint>
#include <vector>

#include "isa/functions.h"

namespace rshift {

// `scales`: one per dimension in memory order, output / input as ONNX computes it (given, or from
// sizes).
struct Resize {
  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinate = CoordinateMode::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  float cubic_a = -0.75f;
  bool exclude_outside = false;
  std::vector<float> scales;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_RESIZE_H_
