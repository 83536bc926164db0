// LayerNorm, InstanceNorm and their kin, with integers alone. NUMERICS.md sections 27 (bytes) and
// 29.5 (16 bits).
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

// `v`: V 2^variance_shift, epsilon with it, in [1, kLargestVariance]; variance_shift is even.
inline InverseDeviation InvertShifted(uint64_t v, int32_t variance_shift) {
  const int32_t doublings = (std::countl_zero(v) - 2) / 2;  // v 4^doublings is in [2^60, 2^62)
  const uint64_t root = SquareRoot(v << (2 * doublings));   // [2^30, 2^31)
  const uint64_t inverse = (uint64_t{1} << 61) / root;
  const int32_t shift = 61 - kNormalizedBits - variance_shift / 2 - doublings;
  return {static_cast<int32_t>(inverse < INT32_MAX ? inverse : INT32_MAX), shift};
}

// `variance`: n sum(v^2) - (sum v)^2, below 2^60; variance 2^variance_shift + epsilon is at most
// kLargestVariance. variance 0: all elements are the mean, all D are 0.
inline InverseDeviation Invert(int64_t variance, int64_t epsilon, int32_t variance_shift) {
  if (variance == 0) return {};
  return InvertShifted(
      (static_cast<uint64_t>(variance) << variance_shift) + static_cast<uint64_t>(epsilon),
      variance_shift);
}

// --- 16 bits: of n > 2^14 elements D is in units of 2^k, and the variance in units of 4^k ---

inline constexpr int32_t NormalizeHalvings(int64_t n) {  // k: [0, 8] for n <= kMostNormalized
  const int32_t bits = std::bit_width(static_cast<uint64_t>(n - 1));
  return bits > 14 ? bits - 14 : 0;
}

// What (n sum v^2 - (sum v)^2) / 4^halvings may reach, |v| <= most.
inline constexpr int64_t LargestNormalizedVariance(int64_t n, int64_t most, int32_t halvings) {
  const int64_t largest = (n * most + (int64_t{1} << halvings) - 1) >> halvings;
  return largest * largest;
}

// sum, squares: of v and v^2, |v| <= 2^15; sum 0 where the mean stays. As Invert; what is cut off
// of V 2^variance_shift / 4^k is below 1.
inline InverseDeviation InvertInt16(int64_t n, int64_t sum, int64_t squares, int64_t epsilon,
                                    int32_t variance_shift) {
  __extension__ using Wide = __int128;
  const Wide variance = Wide{n} * squares - Wide{sum} * sum;  // below 2^75
  if (variance == 0) return {};
  const int32_t left = variance_shift - 2 * NormalizeHalvings(n);
  const auto v = static_cast<uint64_t>(left >= 0 ? variance << left : variance >> -left);
  return InvertShifted(v + static_cast<uint64_t>(epsilon), variance_shift);
}

// D of n v - sum, below 2^38: at most 2^30.
inline constexpr int32_t DifferenceInt16(int64_t difference, int32_t halvings) {
  if (halvings == 0) return static_cast<int32_t>(difference);
  return static_cast<int32_t>(ShiftRightRounded(difference, halvings));
}

// |difference| <= 2^30.
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
