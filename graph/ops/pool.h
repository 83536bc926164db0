// Pooling over [H, W]. Global pooling is imported with the window of the whole image.
#ifndef RSHIFT_GRAPH_OPS_POOL_H_
#define RSHIFT_GRAPH_OPS_POOL_H_

#include "isa/ops/pool.h"

namespace rshift {

using isa::MaxPool;

// The divisor is the number of taps inside the image, or inside image and pads with
// count_include_pad (taps that only ceil_mode adds beyond the pads never count).
struct AveragePool : isa::AveragePoolF32 {
  bool global = false;  // imported from GlobalAveragePool
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_POOL_H_
