// The words of 16-bit commands (int16.h), from real factors. NUMERICS.md section 29.
#ifndef RSHIFT_QUANTIZE_NUMERICS_INT16_TERMS_H_
#define RSHIFT_QUANTIZE_NUMERICS_INT16_TERMS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/portable_math.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/int16_pairs.h"
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

// --- two tensors (int16_pairs.h) ---

// Scales as integers of one unit: S_a = a 2^exponent and S_b = b 2^exponent, exactly where their
// exponents differ by at most `most_shift`; else the larger one is held there.
struct UnitFactors {
  int64_t a = 1, b = 1;
  int exponent = 0;
};

inline UnitFactors UnitFactorsOf(float scale_a, float scale_b, int32_t most_shift) {
  const auto split = [](float scale, int* exponent) {
    const double mantissa = std::frexp(static_cast<double>(scale), exponent);
    *exponent -= 24;
    return static_cast<int64_t>(std::ldexp(mantissa, 24));
  };
  int exponent_a = 0, exponent_b = 0;
  UnitFactors factors;
  factors.a = split(scale_a, &exponent_a);
  factors.b = split(scale_b, &exponent_b);
  factors.exponent = std::min(exponent_a, exponent_b);
  factors.a <<= std::min(exponent_a - factors.exponent, most_shift);
  factors.b <<= std::min(exponent_b - factors.exponent, most_shift);
  return factors;
}

// Of a remainder in units of 2^exponent: 2^exponent / S_y with 31 bits. From 2^31 on every
// remainder but 0 saturates; where rshift would be above kMostModRshift each rounds to 0.
inline RequantWords ModWords(int exponent, float scale_y) {
  int bits = 0;
  const double mantissa = std::frexp(1 / static_cast<double>(scale_y), &bits);
  auto multiplier = static_cast<int64_t>(std::floor(std::ldexp(mantissa, 31) + 0.5));
  int rshift = 31 - bits - exponent;
  if (multiplier == int64_t{1} << 31) {
    multiplier >>= 1;
    --rshift;
  }
  if (rshift < 0) return {INT32_MAX, 0};
  if (rshift > kMostModRshift) return {};
  return {static_cast<int32_t>(multiplier), rshift};
}

// S_b exactly, where it is a multiple of 2^-kMostModRshift and below 2^24; 0 below, the largest
// even number above.
inline PowWords PowWordsOf(float scale_a, float scale_b, float scale_y) {
  const auto log = [](float scale) {
    const double bits = portable::Log2(static_cast<double>(scale)) * PowerOfTwo(kPowFraction);
    return static_cast<int64_t>(RoundHalfEven(bits));
  };
  PowWords words{0, 0, log(scale_a), log(scale_y)};
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(scale_b), &exponent);
  auto multiplier = static_cast<int32_t>(std::ldexp(mantissa, 24));
  int32_t rshift = 24 - exponent;
  for (; multiplier % 2 == 0 && rshift > 0; --rshift) multiplier /= 2;
  if (rshift < 0) return {(1 << 24) - 2, 0, words.log_a, words.log_y};
  if (rshift > kMostModRshift) return words;
  words.multiplier = multiplier;
  words.rshift = rshift;
  return words;
}

// log2(1 + i / kPowLogSteps), then 2^(i / 256) and 2^(i / 65536).
inline std::vector<int32_t> PowTable() {
  std::vector<int32_t> table;
  table.reserve(kPowEntries);
  for (int32_t i = 0; i <= kPowLogSteps; ++i) {
    const double log = portable::Log2(1.0 + static_cast<double>(i) / kPowLogSteps);
    table.push_back(static_cast<int32_t>(RoundHalfEven(log * PowerOfTwo(kPowFraction))));
  }
  for (const double step : {256.0, 65536.0}) {
    for (int32_t i = 0; i < kPowExpSteps; ++i) {
      const double power = portable::Exp(static_cast<double>(i) / step * 0.69314718055994530942);
      table.push_back(static_cast<int32_t>(RoundHalfEven(power * PowerOfTwo(kPowExpFraction))));
    }
  }
  return table;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_INT16_TERMS_H_
