// How large bias + the sum of products x * (w - zero_w) of one output channel gets.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ACCUMULATOR_H_
#define RSHIFT_QUANTIZE_NUMERICS_ACCUMULATOR_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace rshift::numerics {

inline constexpr int64_t kMostInt32 = 2147483647;
// |x| in either form: s8, u8, or s8 + 128, which vector kernels make of s8.
inline constexpr int64_t kMostInput = 255;

// The largest |w - zero_w| that there can be.
constexpr int64_t MostDistance(int32_t zero_w) {
  return std::max<int64_t>(int64_t{zero_w} + 128, 127 - int64_t{zero_w});
}

inline constexpr int64_t kMostDistance = MostDistance(127);  // whatever zero_w is

// `distances`: the sum of |w - zero_w| over all products, or a bound of it. The accumulator must be
// at most kMostInt32; sums on the way to it may wrap.
inline int64_t MostAccumulated(int64_t bias, int64_t distances) {
  return std::abs(bias) + kMostInput * distances;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ACCUMULATOR_H_
