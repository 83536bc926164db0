// The numbers of an integer normalization (normalize.h), from real ones. NUMERICS.md section 27.
#ifndef RSHIFT_QUANTIZE_NUMERICS_NORMALIZE_TERMS_H_
#define RSHIFT_QUANTIZE_NUMERICS_NORMALIZE_TERMS_H_

#include <bit>
#include <cstdint>

#include "quantize/numerics/normalize.h"
#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// 2^exponent, |exponent| < 1000.
inline constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

struct VarianceTerms {
  int64_t epsilon = 0;  // epsilon n^2 / Sx^2 * 2^shift, to the nearest
  int32_t shift = 0;    // even
};

// The largest even shift, at most 44, for which both terms stay below 2^61. most: the largest
// |q - Z|. epsilon: divided by Sx^2. An epsilon that leaves 2^61 all the same is held there.
// halvings: NormalizeHalvings of 16 bits.
inline constexpr VarianceTerms MakeVarianceTerms(int64_t n, int64_t most, double epsilon,
                                                 int32_t halvings = 0) {
  constexpr int64_t kMost = kLargestVariance / 2;
  const int64_t variance = LargestNormalizedVariance(n, most, halvings);
  const double count = static_cast<double>(n) * PowerOfTwo(-halvings);
  const double units = epsilon * count * count;
  VarianceTerms terms{0, 44};
  while (terms.shift > 0 && (variance > kMost >> terms.shift ||
                             !(units * PowerOfTwo(terms.shift) < static_cast<double>(kMost)))) {
    terms.shift -= 2;
  }
  const double scaled = units * PowerOfTwo(terms.shift);
  if (!(scaled < static_cast<double>(kMost))) {
    terms.epsilon = kMost;
  } else {
    terms.epsilon = static_cast<int64_t>(scaled + 0.5);
  }
  return terms;
}

// The rshift of factors of which `largest` is the greatest magnitude: the largest in
// [kNormalizedBits, 56] at which it stays below 2^30.
inline constexpr int32_t FactorShift(double largest) {
  int32_t rshift = 56;
  while (rshift > kNormalizedBits &&
         !(largest * PowerOfTwo(rshift - kNormalizedBits) < static_cast<double>(kLargestFactor))) {
    --rshift;
  }
  return rshift;
}

// Of a scale in units of y; saturates.
inline constexpr int32_t NormalizeFactor(double scale, int32_t rshift) {
  const double scaled = scale * PowerOfTwo(rshift - kNormalizedBits);
  constexpr double kMost = kLargestFactor;
  if (scaled >= kMost) return kLargestFactor;
  if (scaled <= -kMost) return -kLargestFactor;
  return static_cast<int32_t>(RoundHalfEven(scaled));
}

// Of a bias in units of y with the zero point: with the rounding term. Saturates, far beyond a
// byte.
inline constexpr int64_t NormalizeOffset(double bias, int32_t rshift) {
  const double scaled = bias * PowerOfTwo(rshift) + PowerOfTwo(rshift - 1);
  constexpr auto kMost = static_cast<double>(kLargestOffset);
  if (scaled >= kMost) return kLargestOffset;
  if (scaled <= -kMost) return -kLargestOffset;
  return static_cast<int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_NORMALIZE_TERMS_H_
