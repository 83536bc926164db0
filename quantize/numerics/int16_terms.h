// The words of 16-bit commands (int16.h), from real factors. NUMERICS.md section 29.
#ifndef RSHIFT_QUANTIZE_NUMERICS_INT16_TERMS_H_
#define RSHIFT_QUANTIZE_NUMERICS_INT16_TERMS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "quantize/numerics/int16.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/normalize_terms.h"
#include "quantize/numerics/qparams.h"
#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// real = S q, q in [-32768, 32767]: S = threshold / 32768.
inline float Int16Scale(float threshold) {
  return ScaleOrOne(static_cast<double>(threshold) / 32768.0);
}

// Of an accumulator within 2^(31 + zeros), by a multiplier with so many zeros at its end: of one
// within 2^38. Below 2^-(32 + zeros) every one of them rounds to 0: {0, 0}. From 2^24 on every one
// but 0 saturates 16 bits.
inline RequantWords WideMultiplier(double scale, int zeros = kInt16MultiplierZeros) {
  const RequantWords most = {INT32_MAX >> zeros << zeros, zeros};
  if (scale < PowerOfTwo(-(32 + zeros))) return {};
  if (scale >= 0x1p24) return most;
  // Of the scale times 2^16, whose shift is 16 less: QuantizeMultiplier stops at 62.
  const RequantWords pair = QuantizeMultiplier(scale * 0x1p16, 32 - zeros);
  const int32_t rshift = pair.rshift + 16;
  if (rshift < 0) return most;
  return {pair.multiplier << zeros, rshift + zeros};
}

// The zeros of sums of k products of s16, k up to kMostInt16Products.
inline int ProductSumZeros(int64_t k) {
  return std::max(kInt16MultiplierZeros,
                  static_cast<int>(std::bit_width(static_cast<uint64_t>(k - 1))));
}

struct SumFactors {
  int32_t multiplier_a = 0, multiplier_b = 0, rshift = 0;
};

// Of Sa / Sy and Sb / Sy: the largest rshift up to 46 at which both round to less than 2^30. Ratios
// of 2^30 and more are held there: every operand but 0 saturates 16 bits.
inline SumFactors SumInt16Factors(double ratio_a, double ratio_b) {
  constexpr double kMost = (1 << 30) - 1;
  const double larger = std::max(ratio_a, ratio_b);
  SumFactors factors{0, 0, kMostSumRshift};
  while (factors.rshift > 0 && !(larger * PowerOfTwo(factors.rshift) < kMost)) --factors.rshift;
  const auto word = [&](double ratio) {
    return static_cast<int32_t>(
        std::min(std::floor(ratio * PowerOfTwo(factors.rshift) + 0.5), kMost));
  };
  factors.multiplier_a = word(ratio_a);
  factors.multiplier_b = word(ratio_b);
  return factors;
}

// Of Sa / (Sb Sy): the largest rshift up to 46 at which the multiplier is below 2^31. Ratios of
// 2^31 and more are held there: every dividend but 0 saturates 16 bits.
inline RequantWords QuotientInt16Words(double ratio) {
  constexpr double kMost = INT32_MAX;
  RequantWords words{0, kMostQuotientRshift};
  while (words.rshift > 0 && !(ratio * PowerOfTwo(words.rshift) < kMost)) --words.rshift;
  words.multiplier =
      static_cast<int32_t>(std::min(std::floor(ratio * PowerOfTwo(words.rshift) + 0.5), kMost));
  return words;
}

// Of Sx / Sy: Multiplier below 2^24, rshift at most 41. From 2^24 on every sum but 0 saturates.
inline RequantWords AverageInt16Words(double ratio) {
  RequantWords words{0, kMostAverageRshift};
  constexpr double kMost = (1 << 24) - 1;
  while (words.rshift > 0 && !(ratio * PowerOfTwo(words.rshift) < kMost)) --words.rshift;
  words.multiplier =
      static_cast<int32_t>(std::min(std::floor(ratio * PowerOfTwo(words.rshift) + 0.5), kMost));
  return words;
}

// One entry of an interpolated table: a real result in units of y's scale, without its zero point.
// NaN gives 0, as in tables of bytes; what leaves 24 bits is held there.
inline int32_t InterpolatedEntry(double units) {
  if (std::isnan(units)) return 0;
  constexpr double kMost = kLargestTableEntry;
  const double scaled = units * PowerOfTwo(kTableFractionBits);
  if (scaled >= kMost) return kLargestTableEntry;
  if (scaled <= -kMost) return -kLargestTableEntry;
  return static_cast<int32_t>(RoundHalfEven(scaled));
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_INT16_TERMS_H_
