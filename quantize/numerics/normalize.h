// LayerNorm, InstanceNorm and their kin on bytes, with integers alone. NUMERICS.md section 27.
#ifndef RSHIFT_QUANTIZE_NUMERICS_NORMALIZE_H_
#define RSHIFT_QUANTIZE_NUMERICS_NORMALIZE_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

// Elements that are normalized together, at most: n^2 * 255^2 is then below 2^60.
inline constexpr int64_t kMostNormalized = int64_t{1} << 22;
// Fraction bits of a normalized element; it is at most sqrt(n) <= 2^11.
inline constexpr int32_t kNormalizedBits = 19;
// |factor| of an element, and |offset|: their sum stays in int64.
inline constexpr int32_t kLargestFactor = (1 << 30) - 1;
inline constexpr int64_t kLargestOffset = int64_t{1} << 61;
// What the variance with its epsilon may reach.
inline constexpr int64_t kLargestVariance = (int64_t{1} << 62) - 1;

// floor(sqrt(w)) for w in [2^60, 2^62). The square root of binary64 is within one of it, since w
// and its root are each rounded by at most 2^-53 of themselves.
inline uint64_t SquareRoot(uint64_t w) {
  auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(w)));
  while (root * root > w) --root;
  while ((root + 1) * (root + 1) <= w) ++root;
  return root;
}

// 1 / sqrt(V) for what n elements have in common, where V / (n^2 2^variance_shift) is the variance
// with epsilon in units of the input's scale: X = (D * inverse) >> shift, rounded, is D / sqrt(V)
// in kNormalizedBits fraction bits, D = n (q - mean).
struct InverseDeviation {
  int32_t inverse = 0;  // 0, or [2^30, 2^31)
  int32_t shift = 12;   // [12, 42]
};

// `variance`: n sum(v^2) - (sum v)^2, below 2^60; variance 2^variance_shift + epsilon is at most
// kLargestVariance; variance_shift is even. variance 0: all elements are the mean, all D are 0.
inline InverseDeviation Invert(int64_t variance, int64_t epsilon, int32_t variance_shift) {
  if (variance == 0) return {};
  const uint64_t v =
      (static_cast<uint64_t>(variance) << variance_shift) + static_cast<uint64_t>(epsilon);
  const int32_t doublings = (std::countl_zero(v) - 2) / 2;  // v 4^doublings is in [2^60, 2^62)
  const uint64_t root = SquareRoot(v << (2 * doublings));   // [2^30, 2^31)
  const uint64_t inverse = (uint64_t{1} << 61) / root;
  const int32_t shift = 61 - kNormalizedBits - variance_shift / 2 - doublings;
  return {static_cast<int32_t>(inverse < INT32_MAX ? inverse : INT32_MAX), shift};
}

// |difference| <= 255 n < 2^30.
inline constexpr int32_t Normalized(int32_t difference, const InverseDeviation& by) {
  return static_cast<int32_t>(ShiftRightRounded(int64_t{difference} * by.inverse, by.shift));
}

// offset holds the bias, the zero point and the rounding term: (bias / Sy + Zy) 2^rshift +
// 2^(rshift-1).
inline constexpr int32_t ScaleNormalized(int32_t normalized, int32_t factor, int64_t offset,
                                         int32_t rshift, int32_t lo, int32_t hi) {
  return Clamp((int64_t{normalized} * factor + offset) >> rshift, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_NORMALIZE_H_
