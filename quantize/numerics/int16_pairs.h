// Comparisons, Mod and Pow of two 16-bit integers, v = q - Z with |v| <= 2^15. NUMERICS.md section
// 29.11.
#ifndef RSHIFT_QUANTIZE_NUMERICS_INT16_PAIRS_H_
#define RSHIFT_QUANTIZE_NUMERICS_INT16_PAIRS_H_

#include <algorithm>
#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

__extension__ using Int128 = __int128;

// --- comparisons: Compare() (compare.h) of v times a factor, within 2^61 ---

// Factors of both operands: 24 bits of a scale, times up to 2^kMostCompareShift. From there on
// every number of the coarser operand but 0 outweighs all of the finer one.
inline constexpr int32_t kMostCompareShift = 17;

// --- Mod ---

// Factors of both operands: 24 bits of a scale, times up to 2^kMostModShift.
inline constexpr int32_t kMostModShift = 22;
inline constexpr int32_t kMostModRshift = 93;

// The remainder of v_a factor_a / (v_b factor_b), of v_a's sign, times Multiplier / 2^rshift, to
// the nearest integer, ties upwards; of a divisor 0 it is 0. The remainder is below 2^61, times
// 2^31 it has 92 bits.
inline constexpr int32_t ModInt16(int32_t v_a, int32_t v_b, int64_t factor_a, int64_t factor_b,
                                  RequantWords words, int32_t zero_y, int32_t lo, int32_t hi) {
  if (v_b == 0) return Clamp(zero_y, lo, hi);
  const Int128 product = Int128{v_a * factor_a % (v_b * factor_b)} * words.multiplier;
  const Int128 half = words.rshift == 0 ? Int128{0} : Int128{1} << (words.rshift - 1);
  const Int128 rounded = (product + half) >> words.rshift;
  const Int128 held = std::clamp<Int128>(rounded, -(1 << 20), 1 << 20);
  return Clamp(static_cast<int64_t>(held) + zero_y, lo, hi);
}

// --- Pow ---

inline constexpr int32_t kPowFraction = 24;     // bits of logarithms
inline constexpr int32_t kPowLogSteps = 1024;   // log2(1 + i / 1024), both ends
inline constexpr int32_t kPowExpFraction = 29;  // bits of powers of two
inline constexpr int32_t kPowExpSteps = 256;    // 2^(i / 256), then 2^(j / 65536)
inline constexpr int32_t kPowEntries = kPowLogSteps + 1 + 2 * kPowExpSteps;
inline constexpr int64_t kMostPowLog = int64_t{256} << kPowFraction;

// S_b = multiplier / 2^rshift; log2 of S_a and of S_y with kPowFraction bits.
struct PowWords {
  int32_t multiplier = 0, rshift = 0;
  int64_t log_a = 0, log_y = 0;
};

// log2(v) with kPowFraction bits, v in [1, 2^15]: a straight line between two entries.
inline constexpr int64_t PowLog(const int32_t* table, int32_t v) {
  int32_t exponent = 0;
  while (v >> (exponent + 1) != 0) ++exponent;
  const int32_t mantissa = (v << (15 - exponent)) - (1 << 15);  // 15 bits
  const int32_t i = mantissa >> 5, f = mantissa & 31;
  const int64_t line = int64_t{table[i + 1] - table[i]} * f;
  return (int64_t{exponent} << kPowFraction) + table[i] + ((line + 16) >> 5);
}

// 2^(t / 2^kPowFraction) to the nearest integer, ties upwards; from 2^20 on that.
inline constexpr int64_t PowExp(const int32_t* table, int64_t t) {
  const int64_t rounded = (t + 128) >> 8;  // 16 bits of fraction
  const int64_t exponent = rounded >> 16;
  if (exponent >= 20) return int64_t{1} << 20;
  if (exponent < -1) return 0;
  const int32_t* coarse = table + kPowLogSteps + 1;
  const int64_t product = int64_t{coarse[rounded >> 8 & 255]} *
                          coarse[kPowExpSteps + static_cast<int32_t>(rounded & 255)];
  const int64_t shift = 2 * kPowExpFraction - exponent;
  return (product + (int64_t{1} << (shift - 1))) >> shift;
}

// (S_a v_a)^(S_b v_b) in units of S_y. A base below 0 has a result where the exponent is an
// integer, else 0. 0 to a power below 0: the upper end.
inline constexpr int32_t PowInt16(const int32_t* table, int32_t v_a, int32_t v_b,
                                  const PowWords& words, int32_t zero_y, int32_t lo, int32_t hi) {
  const int64_t exponent = int64_t{v_b} * words.multiplier;  // in units of 2^-rshift
  const int64_t fraction_bits = std::min(words.rshift, 40);
  bool negative = false;
  if (v_a < 0) {
    if ((exponent & ((int64_t{1} << fraction_bits) - 1)) != 0) return Clamp(zero_y, lo, hi);
    negative = (exponent >> fraction_bits & 1) != 0;
  }
  if (v_a == 0 && exponent != 0) return exponent < 0 ? hi : Clamp(zero_y, lo, hi);
  const int64_t log = v_a == 0 ? 0 : PowLog(table, v_a < 0 ? -v_a : v_a) + words.log_a;
  const Int128 power = Int128{log} * exponent;
  const Int128 half = words.rshift == 0 ? Int128{0} : Int128{1} << (words.rshift - 1);
  const Int128 scaled =
      std::clamp<Int128>((power + half) >> words.rshift, -4 * kMostPowLog, 4 * kMostPowLog);
  const int64_t y = PowExp(table, static_cast<int64_t>(scaled) - words.log_y);
  return Clamp((negative ? -y : y) + zero_y, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_INT16_PAIRS_H_
