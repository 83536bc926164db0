// Products of integers whose scale and zero point are found while the program runs.
#ifndef RSHIFT_GRAPH_OPS_DYNAMIC_H_
#define RSHIFT_GRAPH_OPS_DYNAMIC_H_

#include <cstdint>
#include <vector>

#include "isa/ops/dynamic.h"

namespace rshift {

using isa::DynamicQuantize;
using isa::DynamicRange;

// inputs: x (s8/u8), w (s8 constant), the record of x (f32 [2]: scale, zero point).
// acc = sum (x - zero point) * (w - zero_w). Without scales the result is acc, s32; with them f32:
// float(acc) * (scale of x * scales[c]) + bias[c], each operation rounded. NUMERICS.md section 21.
struct DynamicLinear {
  std::vector<float> scales{};    // empty, or one for each output channel
  std::vector<float> bias{};      // empty, or as many; with scales only
  std::vector<int32_t> zero_w{};  // empty (all 0), or as many
};

// w: [OC, IC/groups, KH, KW].
struct DynamicConv : DynamicLinear {
  Window window{};
  int64_t groups = 1;
};

// w: [K, N].
struct DynamicMatMul : DynamicLinear {};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_DYNAMIC_H_
