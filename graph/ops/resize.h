// Resize / Upsample over any dimensions; the common case is H and W.
#ifndef RSHIFT_GRAPH_OPS_RESIZE_H_
#define RSHIFT_GRAPH_OPS_RESIZE_H_

#include <cstdint>
#include <vector>

namespace rshift {

enum class ResizeMode : uint8_t { kNearest = 0, kLinear = 1, kCubic = 2 };
enum class CoordinateMode : uint8_t {
  kHalfPixel = 0,
  kPytorchHalfPixel = 1,
  kAlignCorners = 2,
  kAsymmetric = 3,
  kHalfPixelSymmetric = 4,
};
enum class NearestMode : uint8_t {
  kRoundPreferFloor = 0,
  kRoundPreferCeil = 1,
  kFloor = 2,
  kCeil = 3
};

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
