// Attribute structs shared by several operator families.
#ifndef RSHIFT_GRAPH_OPS_COMMON_H_
#define RSHIFT_GRAPH_OPS_COMMON_H_

#include <cstdint>
#include <limits>

namespace rshift {

// A 2-D sliding window over [H, W]. 1-D operators are imported with height 1.
// The output size is that of the node's output value; it may exceed what the pads alone give
// (ceil_mode).
struct Window {
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// A fused Relu / Relu6 / Clip: y = min(max(x, lo), hi). The default does nothing.
struct Clamp {
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
  bool active() const {
    return lo != -std::numeric_limits<float>::infinity() ||
           hi != std::numeric_limits<float>::infinity();
  }
  friend bool operator==(const Clamp&, const Clamp&) = default;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_COMMON_H_
