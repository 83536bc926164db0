// Arithmetic of commands that read or write 16-bit integers: s16, zero point 0, beside s8 and u8.
// Each formula has one rounding. NUMERICS.md section 29.
#ifndef RSHIFT_QUANTIZE_NUMERICS_INT16_H_
#define RSHIFT_QUANTIZE_NUMERICS_INT16_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

inline constexpr int32_t kLargestInt16 = 32767;
// |q - Z| of s16; of a byte it is at most 255.
inline constexpr int64_t kInt16Magnitude = 32768;

// --- convolutions and matrix products: accumulators of 39 bits, multipliers of 24 ---

// |bias + sum of x w| of a channel.
inline constexpr int64_t kInt16AccumulatorLimit = int64_t{1} << 38;
// The bits of a record's multiplier that are 0: it has 24 without its sign, as of a binary32.
inline constexpr int kInt16MultiplierZeros = 7;
inline constexpr int32_t kMostInt16Rshift = 69;

// ((acc Multiplier + 2^(rshift-1)) >> rshift) + zero_y, held to [lo, hi]. |acc| <= 2^38; words: {0,
// any}, or a Multiplier in [2^30, 2^31) whose last 7 bits are 0 and rshift in [7, 69]. In 64 bits:
// both words are taken without the 7 zeros, and the product is below 2^62.
inline constexpr int32_t RequantizeWide(int64_t acc, RequantWords words, int32_t zero_y, int32_t lo,
                                        int32_t hi) {
  const int64_t product = acc * (words.multiplier >> kInt16MultiplierZeros);
  return Clamp(
      ShiftRightRounded(product, std::max(words.rshift - kInt16MultiplierZeros, 0)) + zero_y, lo,
      hi);
}

// acc scale to the nearest integer, ties away from zero; |acc| <= 2^38 is exact in binary64, the
// product is rounded to it. Beyond 32 bits it is held there.
inline constexpr int64_t ScaleWideDouble(int64_t acc, double scale) {
  constexpr double kLimit = 2147483648.0;
  const double v = std::clamp(static_cast<double>(acc) * scale, -kLimit, kLimit);
  const auto whole = static_cast<int64_t>(v);  // towards zero; v - whole is exact
  const double rest = v - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

// An accumulator under the roundings of conv_s16 and matmul_s16 (isa/functions.def): of kTwoStep
// and kTwoStepUp it fits 32 bits.
inline constexpr int32_t RequantizeWideBy(Rounding rounding, int64_t acc, RequantWords words,
                                          int32_t zero_y, int32_t lo, int32_t hi) {
  if (rounding == Rounding::kDoubleAway) {
    const double scale = WordsToDouble(words.multiplier, words.rshift);
    return Clamp(ScaleWideDouble(acc, scale) + zero_y, lo, hi);
  }
  if (rounding == Rounding::kHalfUp) return RequantizeWide(acc, words, zero_y, lo, hi);
  const int64_t y =
      ScaleInteger(rounding, static_cast<int32_t>(acc), words.multiplier, words.rshift);
  return Clamp(y + zero_y, lo, hi);
}

// --- sums and products of two tensors ---

// The shift of a sum: 2^15 * 2^31 * 2 and 2^45 are far below 2^63.
inline constexpr int32_t kMostSumRshift = 46;

// v: x - Z. |v| <= 2^15.
inline constexpr int32_t SumInt16(int32_t v_a, int32_t v_b, int32_t multiplier_a,
                                  int32_t multiplier_b, int32_t rshift, int32_t zero_y, int32_t lo,
                                  int32_t hi) {
  const int64_t sum = int64_t{v_a} * multiplier_a + int64_t{v_b} * multiplier_b;
  return Clamp(ShiftRightRounded(sum, rshift) + zero_y, lo, hi);
}

// TFLite's sum (add_shifted_s16): each operand times 2^left_shift and its pair, then the sum of
// both, two steps each. |v| <= 2^15, left_shift <= 15; a and b with rshift >= 31, so that the sum
// fits 32 bits.
struct ShiftedSumWords {
  RequantWords a, b, y;
  int32_t left_shift = 0;
  bool subtract = false;
};
inline constexpr int32_t ShiftedSumInt16(int32_t v_a, int32_t v_b, const ShiftedSumWords& w,
                                         int32_t zero_y, int32_t lo, int32_t hi) {
  const int32_t factor = 1 << w.left_shift;
  const int32_t u = MultiplyTwoStep(v_a * factor, w.a.multiplier, w.a.rshift);
  const int32_t v = MultiplyTwoStep(v_b * factor, w.b.multiplier, w.b.rshift);
  const int64_t sum = w.subtract ? int64_t{u} - v : int64_t{u} + v;
  const int32_t held = Clamp(sum, INT32_MIN, INT32_MAX);
  return Clamp(int64_t{MultiplyTwoStep(held, w.y.multiplier, w.y.rshift)} + zero_y, lo, hi);
}

// |v_a v_b| <= 2^30; rshift <= 62.
inline constexpr int32_t ProductInt16(int32_t v_a, int32_t v_b, RequantWords words, int32_t zero_y,
                                      int32_t lo, int32_t hi) {
  const int64_t product = int64_t{v_a} * v_b * words.multiplier;
  return Clamp(ShiftRightRounded(product, words.rshift) + zero_y, lo, hi);
}

// The same in two steps (isa/functions.def).
inline constexpr int32_t ProductTwoStepInt16(int32_t v_a, int32_t v_b, RequantWords words,
                                             int32_t zero_y, int32_t lo, int32_t hi) {
  return Clamp(int64_t{MultiplyTwoStep(v_a * v_b, words.multiplier, words.rshift)} + zero_y, lo,
               hi);
}

inline constexpr int32_t kMostQuotientRshift = 46;

// v_a Multiplier / (v_b 2^rshift) to the nearest integer, ties upwards. |v| <= 2^15, so that with
// rshift <= 46 twice the divisor is within 2^62. By 0: an end, by the sign of v_a; 0 of 0.
inline constexpr int32_t QuotientInt16(int32_t v_a, int32_t v_b, RequantWords words, int32_t zero_y,
                                       int32_t lo, int32_t hi) {
  if (v_b == 0) return v_a == 0 ? Clamp(zero_y, lo, hi) : v_a < 0 ? lo : hi;
  const int64_t half = (v_b < 0 ? -int64_t{v_b} : int64_t{v_b}) << words.rshift;
  const int64_t over = (v_b < 0 ? -2 : 2) * int64_t{v_a} * words.multiplier + half;
  const int64_t under = 2 * half, towards_zero = over / under;
  return Clamp(towards_zero - (over % under < 0 ? 1 : 0) + zero_y, lo, hi);
}

// --- sums of products of two activations ---

// Of elements of a row: sums within 2^46.
inline constexpr int64_t kMostInt16Products = int64_t{1} << 16;

// The zeros at a multiplier's end that are not counted among its bits: both words are taken without
// them.
inline constexpr int32_t ProductZeros(RequantWords words) {
  if (words.multiplier == 0) return 0;
  return std::min(std::countr_zero(static_cast<uint32_t>(words.multiplier)), words.rshift);
}
// ((acc Multiplier + 2^(rshift-1)) >> rshift) + zero_y, held to [lo, hi]. acc: the sum of k
// products of s16, with k 2^30 (Multiplier without its zeros) <= 2^61 and rshift at most 62 above
// the zeros.
inline constexpr int32_t ProductSumInt16(int64_t acc, RequantWords words, int32_t zero_y,
                                         int32_t lo, int32_t hi) {
  const int32_t zeros = ProductZeros(words);
  const int64_t product = acc * (words.multiplier >> zeros);
  return Clamp(ShiftRightRounded(product, words.rshift - zeros) + zero_y, lo, hi);
}

// --- one value ---

// From one scale to another, and a clamp; Multiplier 0 stands for the factor 1.
inline constexpr int32_t RescaleInt16(int32_t v, RequantWords words, int32_t zero_y, int32_t lo,
                                      int32_t hi) {
  const int64_t scaled = words.multiplier == 0
                             ? int64_t{v}
                             : ShiftRightRounded(int64_t{v} * words.multiplier, words.rshift);
  return Clamp(scaled + zero_y, lo, hi);
}

// The same in two steps.
inline constexpr int32_t RescaleTwoStepInt16(int32_t v, RequantWords words, int32_t zero_y,
                                             int32_t lo, int32_t hi) {
  const int32_t scaled =
      words.multiplier == 0 ? v : MultiplyTwoStep(v, words.multiplier, words.rshift);
  return Clamp(int64_t{scaled} + zero_y, lo, hi);
}

// --- functions of one s16 value ---

// An interpolated table has an entry of 8 fraction bits for every x = -32768 + 2^step_bits i, and
// one behind the last: 513 entries at the widest steps, 8,193 at the narrowest.
inline constexpr int32_t kTableStepBits = 7;
inline constexpr int32_t kLeastTableStepBits = 3;
inline constexpr int32_t kTableFractionBits = 8;
inline constexpr int32_t kLargestTableEntry = (1 << 24) - 1;

inline constexpr int32_t TableSteps(int32_t step_bits) { return 65536 >> step_bits; }
inline constexpr int32_t kTableSteps = TableSteps(kTableStepBits);

// The step_bits of a table of so many entries, or -1 where no interpolated table has as many.
inline constexpr int32_t TableStepBits(int64_t entries) {
  for (int32_t bits = kTableStepBits; bits >= kLeastTableStepBits; --bits)
    if (entries == TableSteps(bits) + 1) return bits;
  return -1;
}

// Between the two entries around x, in a straight line. Entries within 2^24: the sum is below 2^32.
inline constexpr int32_t InterpolateInt16(const int32_t* table, int32_t step_bits, int32_t x,
                                          int32_t zero_y, int32_t lo, int32_t hi) {
  const int32_t at = x + 32768, i = at >> step_bits;
  const int64_t part = at & ((1 << step_bits) - 1);
  const int64_t sum = table[i] * ((int64_t{1} << step_bits) - part) + table[i + 1] * part;
  return Clamp(ShiftRightRounded(sum, step_bits + kTableFractionBits) + zero_y, lo, hi);
}

// --- averages ---

// Taps of one window, at most.
inline constexpr int64_t kMostInt16Taps = int64_t{1} << 20;
inline constexpr int32_t kMostAverageRshift = 41;

// v Multiplier / (n 2^rshift) to the nearest integer, ties upwards. v: the sum of x - Z over n
// taps, |v| < 2^36; 0 <= Multiplier < 2^24, rshift <= 41: every term is below 2^62.
inline constexpr int32_t AverageInt16(int64_t v, int64_t n, RequantWords words, int32_t zero_y,
                                      int32_t lo, int32_t hi) {
  const int64_t half = n << words.rshift;
  const int64_t over = 2 * v * words.multiplier + half, under = 2 * half;
  const int64_t towards_zero = over / under;
  const int64_t floor = towards_zero - (over % under < 0 ? 1 : 0);
  return Clamp(floor + zero_y, lo, hi);
}

// The same, ties away from zero.
inline constexpr int32_t AverageAwayInt16(int64_t v, int64_t n, RequantWords words, int32_t zero_y,
                                          int32_t lo, int32_t hi) {
  const int64_t half = n << words.rshift;
  const int64_t over = 2 * v * words.multiplier;
  return Clamp((over < 0 ? over - half : over + half) / (2 * half) + zero_y, lo, hi);
}

// Sums that kTwoStep multiplies fit 32 bits.
inline constexpr int64_t kMostTwoStepTaps = kLargestInt16 * 2 + 1;

// An average under the roundings of average_pool_s16.
inline constexpr int32_t AverageInt16By(Rounding rounding, int64_t v, int64_t n, RequantWords words,
                                        int32_t zero_y, int32_t lo, int32_t hi) {
  if (rounding == Rounding::kHalfUp) return AverageInt16(v, n, words, zero_y, lo, hi);
  if (rounding == Rounding::kHalfAway) return AverageAwayInt16(v, n, words, zero_y, lo, hi);
  return RescaleTwoStepInt16(static_cast<int32_t>(v), words, zero_y, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_INT16_H_
