// Reading packed weights channel by channel, in memory order. The layout is the file's (the
// compiler's side of it is codegen/packing): per group, panels of 64 output channels, the last
// narrowed to a multiple of 16, each [K/4][panel width][4] with K = taps * channels rounded up
// to 4. Depthwise: [taps][channels rounded up to 64].
#ifndef RSHIFT_RUNTIME_PACKED_WEIGHTS_H_
#define RSHIFT_RUNTIME_PACKED_WEIGHTS_H_

#include <cstdint>
#include <vector>

namespace rshift {

inline int64_t RoundUpTo(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

struct WeightLayout {
  int64_t groups = 1, oc_per_group = 0, ic_per_group = 0, taps = 1;  // taps = KH * KW
  int64_t k() const { return taps * RoundUpTo(ic_per_group, 4); }    // padded K
  int64_t n() const { return RoundUpTo(oc_per_group, 16); }          // padded N of one group
  int64_t group_bytes() const { return k() * n(); }
  int64_t bytes() const { return groups * group_bytes(); }
};

struct WeightSums {
  std::vector<int64_t> plain;     // sum of w, one per output channel of all groups
  std::vector<int64_t> absolute;  // sum of |w|
  bool padding_is_zero = true;    // entries of channels or K positions that do not exist
};

WeightSums SumConvWeights(const WeightLayout& shape, const int8_t* weights);
// `weights` [taps][RoundUpTo(channels, 64)].
WeightSums SumDepthwiseWeights(int64_t channels, int64_t taps, const int8_t* weights);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_PACKED_WEIGHTS_H_
