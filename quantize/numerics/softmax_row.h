// Softmax of one row of bytes by tables over d = max - x. NUMERICS.md, profiles. Sources: TFLite's
// int8 Softmax on gemmlowp's fixed-point functions; LiteRT's optimised kernel; ONNX Runtime's
// QLinearSoftmax; tpu's own (section 26).
#ifndef RSHIFT_QUANTIZE_NUMERICS_SOFTMAX_ROW_H_
#define RSHIFT_QUANTIZE_NUMERICS_SOFTMAX_ROW_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "isa/attributes.h"
#include "quantize/numerics/logarithm.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/two_step.h"

namespace rshift::numerics {

// x * 2^exponent for exponent in [0, 31], saturated.
inline constexpr int32_t SaturatingShiftLeft(int32_t x, int32_t exponent) {
  const int64_t y = int64_t{x} << exponent;
  return y > INT32_MAX ? INT32_MAX : y < INT32_MIN ? INT32_MIN : static_cast<int32_t>(y);
}

// 1 / (1 + a) in Q0.31 for a in [0, 1) as Q0.31: three Newton-Raphson steps on half the
// denominator, in Q2.29, from 48/17 - 32/17 * that half.
inline constexpr int32_t OneOverOnePlus(int32_t a) {
  const int64_t sum = int64_t{a} + INT32_MAX;  // a + 1, whose Q0.31 is INT32_MAX
  const auto half = static_cast<int32_t>((sum + 1) / 2);
  constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540;  // Q2.29
  constexpr int32_t kOne = 1 << 29;
  int32_t x = k48Over17 + SaturatingRoundingDoublingHighMul(half, kMinus32Over17);
  for (int step = 0; step < 3; ++step) {
    const int32_t rest = kOne - SaturatingRoundingDoublingHighMul(half, x);
    // Q2 * Q2 is Q4: two bits back.
    x += SaturatingShiftLeft(SaturatingRoundingDoublingHighMul(x, rest), 2);
  }
  return SaturatingShiftLeft(x, 1);  // half of x as Q1.30, to Q0.31
}

// What one row has in common: kFixedPoint's reciprocal of its sum. sum: Q12.19, > 0.
struct RowReciprocal {
  int32_t scale = 0;   // Q0.31
  int32_t rshift = 0;  // of the product with a table entry, to 8 bits
};

inline constexpr RowReciprocal Reciprocal(int32_t sum) {
  const auto bits = static_cast<uint32_t>(sum);
  const int headroom = std::countl_zero(bits);  // at least 1
  const auto fraction = static_cast<int32_t>((bits << headroom) - (uint32_t{1} << 31));
  return {OneOverOnePlus(fraction), 12 - headroom + 31 - 8};
}

// A table entry (exp in Q0.31) as it is summed, in Q12.19.
inline constexpr int32_t ToAccumulation(int32_t entry) { return RoundingDivideByPot(entry, 12); }

// zero is the lowest value of the output's type. rshift may be 32 to 34 for sums from 512 on; the
// quotient is then 0 (TFLite's own code shifts by more than the width there: undefined).
inline constexpr int32_t SoftmaxFixedPoint(int32_t entry, const RowReciprocal& row, int32_t zero,
                                           int32_t lo, int32_t hi) {
  const int32_t product = SaturatingRoundingDoublingHighMul(row.scale, entry);
  return Clamp(int64_t{RoundingDivideByPot(product, row.rshift)} + zero, lo, hi);
}

// inverse = 1 / (sum * scale_y), one rounding each.
inline constexpr float SoftmaxInverse(float sum, float scale_y) {
  const float product = sum * scale_y;
  return 1.0f / product;
}
// entry * inverse, to the nearest integer: ties away from zero for an s8 output, and for u8 by
// adding 1/2 (itself rounded) and cutting off.
inline constexpr int32_t SoftmaxFloatTable(float entry, float inverse, bool is_signed, int32_t zero,
                                           int32_t lo, int32_t hi) {
  const float v = entry * inverse;
  if (is_signed) return RoundToByteBy(RealRounding::kAway, v, zero, lo, hi);
  return RoundToByteBy(RealRounding::kTruncate, v + 0.5f, zero, lo, hi);
}

// LogSoftmax, each operation rounded: y = x * slope - offset, ties away from zero, + zero; x: a raw
// integer, greatest: the row's. NUMERICS.md section 13.10.
struct LogSoftmaxRowTerms {
  float slope = 0, offset = 0;
};
// sum: of the table's entries, above 0 and finite.
inline constexpr LogSoftmaxRowTerms LogSoftmaxFloatRow(float sum, int32_t greatest, float scale_x,
                                                       float scale_y) {
  const auto log = static_cast<float>(Ln(static_cast<double>(sum)));
  const float top = scale_x * static_cast<float>(greatest) + log;
  return {scale_x / scale_y, top / scale_y};
}
inline constexpr int32_t LogSoftmaxFloatTable(int32_t x, const LogSoftmaxRowTerms& row,
                                              int32_t zero, int32_t lo, int32_t hi) {
  const float v = static_cast<float>(x) * row.slope - row.offset;
  return RoundToByteBy(RealRounding::kAway, v, zero, lo, hi);
}

// units = floor(1 / Sy): (entry * units) / sum to even, + zero. A product beyond binary32 gives
// zero: ONNX Runtime makes an integer of infinity, whose low bits are 0.
inline constexpr float SoftmaxUnits(float scale_y) {
  const float units = 1.0f / scale_y;
  if (!(units < 8388608.0f)) return units;  // an integer already, or infinite
  return static_cast<float>(static_cast<int32_t>(units));
}
inline constexpr int32_t SoftmaxFloatQuotient(float entry, float units, float sum, int32_t zero,
                                              int32_t lo, int32_t hi) {
  const float product = entry * units;
  if (product > std::numeric_limits<float>::max()) return Clamp(zero, lo, hi);
  return RoundToByte(product / sum, zero, lo, hi);
}

// Entry 0 of a table in Q2.30: exp(0).
inline constexpr int32_t kSoftmaxOne = 1 << 30;
// Elements of a row, at most, such that the sum's rounded entries cost less than 1/8 of a unit.
inline constexpr int64_t kMostSoftmax = int64_t{1} << 20;

// 1 / (sum * Sy) of a row as factor / 2^rshift for entries in Q2.30.
struct SoftmaxQuotientRow {
  uint32_t factor = 0;
  int32_t rshift = 62;
};

// sum: of entries in Q2.30, of which the greatest element's is kSoftmaxOne; below 2^62.
// inverse_scale: 1 / Sy.
inline constexpr SoftmaxQuotientRow QuotientRow(uint64_t sum, const RequantWords& inverse_scale) {
  const int bits = 64 - std::countl_zero(sum);                                   // [31, 62]
  const uint64_t normal = bits <= 32 ? sum << (32 - bits) : sum >> (bits - 32);  // [2^31, 2^32)
  const uint64_t factor = (static_cast<uint64_t>(inverse_scale.multiplier) << 32) / normal;
  const int32_t rshift = bits + inverse_scale.rshift;
  // entry * factor < 2^62 is less than half a unit from there on.
  if (rshift > 62) return {};
  return {static_cast<uint32_t>(factor), rshift};  // multiplier < 2^31: below 2^32
}

inline constexpr int32_t SoftmaxQuotient(int32_t entry, const SoftmaxQuotientRow& row, int32_t zero,
                                         int32_t lo, int32_t hi) {
  const auto product = static_cast<int64_t>(static_cast<uint64_t>(entry) * row.factor);
  return Clamp(ShiftRightRounded(product, row.rshift) + zero, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_SOFTMAX_ROW_H_
