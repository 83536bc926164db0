// Pooling over [H, W]. Global pooling is imported with the window of the whole image.
#ifndef RSHIFT_GRAPH_OPS_POOL_H_
#define RSHIFT_GRAPH_OPS_POOL_H_

#include "isa/attributes.h"

namespace rshift {

struct MaxPool {
  Window window;
};

// The divisor is the number of taps inside the image, or inside image and pads with
// count_include_pad (taps that only ceil_mode adds beyond the pads never count).
struct AveragePool {
  Window window;
  bool count_include_pad = false;
  bool global = false;  // imported from GlobalAveragePool
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_POOL_H_
