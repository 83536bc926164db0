// How large bias + the sum of products x * (w - zero_w) of one output channel gets: what the
// quantizer keeps to, its proof shows, the verifier asks of a file and the kernels' forms rely on.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ACCUMULATOR_H_
#define RSHIFT_QUANTIZE_NUMERICS_ACCUMULATOR_H_

#include <algorithm>
#include <cstdint>

namespace rshift::numerics {

// Of an accumulator; sums on the way to it may wrap.
inline constexpr int64_t kInt32Limit = 2147483647;
// |x| in either form: s8, u8, or s8 + 128, which vector kernels make of s8.
inline constexpr int64_t kLargestInput = 255;

// |w - zero_w| of a weight in s8.
constexpr int64_t LargestDistance(int32_t zero_w) {
  return std::max<int64_t>(int64_t{zero_w} + 128, 127 - int64_t{zero_w});
}
// The same of any zero_w in s8.
inline constexpr int64_t kLargestDistance = LargestDistance(127);

// `distances`: the sum of |w - zero_w| over all products, or a bound of it. T: int64_t, or double
// for a bias that need not fit.
template <typename T>
constexpr T LargestAccumulator(T bias, T distances) {
  return (bias < 0 ? -bias : bias) + static_cast<T>(kLargestInput) * distances;
}

// |q - zero| of a byte of that type.
constexpr int64_t LargestMagnitude(bool is_signed, int32_t zero) {
  const int64_t lo = is_signed ? -128 : 0;
  return std::max<int64_t>(zero - lo, lo + 255 - zero);
}

// |sum of (a - za) * (b - zb)| over k products of magnitudes at most 255 each. Beyond 2^40 products
// it stays there: far from int32 all the same.
constexpr int64_t LargestProductSum(int64_t k, int64_t most_a, int64_t most_b) {
  return std::min(k, int64_t{1} << 40) * most_a * most_b;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ACCUMULATOR_H_
