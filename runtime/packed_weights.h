// Sums over packed weights, channel by channel, read in memory order (layout:
// codegen/packing/packing.h).
#ifndef RSHIFT_RUNTIME_PACKED_WEIGHTS_H_
#define RSHIFT_RUNTIME_PACKED_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "codegen/packing/packing.h"

namespace rshift {

struct WeightSums {
  std::vector<int64_t> plain;     // sum of w, one per output channel of all groups
  std::vector<int64_t> absolute;  // sum of |w - zero_w|
  bool padding_is_zero = true;    // entries of channels or K positions that do not exist
};

// `zero_w`: one per output channel, in [-128, 127], or null (0).
WeightSums SumConvWeights(const PackedShape& shape, const int8_t* weights,
                          const int32_t* zero_w = nullptr);
// `weights` [taps][RoundUp(channels, 64)].
WeightSums SumDepthwiseWeights(int64_t channels, int64_t taps, const int8_t* weights,
                               const int32_t* zero_w = nullptr);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_PACKED_WEIGHTS_H_
