// The numbers of LiteRT's 16x8 kernels: s16 activations with zero point 0, s8 weights. NUMERICS.md
// section 30. Source: the public definitions of its reference kernels, and experiments with the
// library on every s16 (tests/e2e/test_tflite_int16.py).
#ifndef RSHIFT_QUANTIZE_NUMERICS_TFLITE_INT16_H_
#define RSHIFT_QUANTIZE_NUMERICS_TFLITE_INT16_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "quantize/numerics/elementary.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/logarithm.h"
#include "quantize/numerics/softmax_int16.h"
#include "quantize/numerics/tflite.h"

namespace rshift::numerics {

// --- accumulators of 64 bits: the multiplier has 15 bits ---

// Of a record under kHalfUp (RequantizeWide).
inline constexpr RequantWords TfLiteWideMultiplier(double scale) {
  const RequantWords whole = TfLiteMultiplier(scale);
  if (whole.multiplier == 0) return {};
  const int32_t reduced =
      whole.multiplier < 0x7fff0000 ? (whole.multiplier + (1 << 15)) >> 16 : 0x7fff;
  return {reduced << 16, whole.rshift};
}
// LiteRT's shift has 7 bits to the left; larger scales are not computed.
inline constexpr double kMostTfLiteWideScale = 128;

// --- sums ---

inline constexpr int32_t kTfLiteInt16AddShift = 15;

inline constexpr ShiftedSumWords TfLiteSumInt16(float scale_a, float scale_b, float scale_y,
                                                bool subtract) {
  const TfLiteAddFactors f = TfLiteAdd(scale_a, scale_b, scale_y, kTfLiteInt16AddShift);
  // A factor that rounds to 0 has no shift of its own; the operands' shifts are 31 or more.
  const auto operand = [](const RequantWords& m) {
    return m.multiplier == 0 ? RequantWords{0, 31} : m;
  };
  return {operand(f.a), operand(f.b), f.y, kTfLiteInt16AddShift, subtract};
}

// Scales that are powers of two: an operand is divided, ties away from zero, and added. Of operands
// with scales up to y's, one of which is y's.
inline ShiftedSumWords TfLiteShiftedSumInt16(float scale_a, float scale_b, float scale_y,
                                             bool subtract) {
  const auto operand = [&](float scale) {
    const int32_t shift = std::ilogb(scale_y) - std::ilogb(scale);
    return RequantWords{1 << 30, std::min(31 + (kTfLiteInt16AddShift - 1) + shift, 62)};
  };
  return {operand(scale_a), operand(scale_b), {1 << 30, 30}, kTfLiteInt16AddShift, subtract};
}

// --- tables of 513 numbers ---

// What LiteRT fills such a table from: 512 steps over [x_min, x_max], results over [y_min, y_max].
template <typename Real>
struct TfLiteTableRange {
  Real x_min, x_max, y_min, y_max;
};
// Of tensors, whose bounds are computed in Real from the ends of their types.
template <typename Real>
TfLiteTableRange<Real> TfLiteTableRangeOf(Real scale_x, int32_t zero_x, Real scale_y) {
  const auto ends = [](Real scale, int32_t q) { return scale * static_cast<Real>(q); };
  return {ends(scale_x, -32768 - zero_x), ends(scale_x, 32767 - zero_x), ends(scale_y, -32768),
          ends(scale_y, 32767)};
}

// Entries are moved by half of the error that the line between two of them has in the middle. Every
// operation is rounded to Real; std::round is half away from zero.
template <typename Real>
std::vector<int16_t> TfLiteTable(const TfLiteTableRange<Real>& range,
                                 const std::function<Real(Real)>& function) {
  const auto held = [](Real v) {
    return static_cast<int16_t>(std::min(std::max(v, Real(-32768)), Real(32767)));
  };
  const Real step = (range.x_max - range.x_min) / Real(512), half_step = step / Real(2);
  const Real inverse = Real(65536) / (range.y_max - range.y_min);
  std::vector<int16_t> table;
  for (int32_t i = 0; i < kTableSteps; ++i) {
    const Real at = range.x_min + static_cast<Real>(i) * step;
    const Real next_at = range.x_min + static_cast<Real>(i + 1) * step;
    const Real middle_at = at + half_step;
    const Real sample = std::round(function(at) * inverse);
    const Real line = std::round((function(next_at) * inverse + sample) / Real(2));
    const Real error = line - std::round(function(middle_at) * inverse);
    table.push_back(held(sample - std::round(error / Real(2))));
  }
  table.push_back(held(std::round(function(range.x_max) * inverse)));
  return table;
}

// The softmax's: exp over [-10, 0], 1 / (1 + x) over [0, 1], results in 2^-15, in binary64.
inline std::vector<int16_t> TfLiteSoftmaxTables() {
  std::vector<int16_t> tables =
      TfLiteTable<double>(TfLiteTableRangeOf<double>(10.0 / 65535.0, 32767, 2.0 / 65535.0),
                          [](double x) { return Exp(x); });
  const std::vector<int16_t> reciprocals =
      TfLiteTable<double>(TfLiteTableRangeOf<double>(1.0 / 65535.0, -32768, 2.0 / 65535.0),
                          [](double x) { return 1.0 / (1.0 + x); });
  tables.insert(tables.end(), reciprocals.begin(), reciprocals.end());
  return tables;
}
// S_x in units of 10 / 65535, binary64.
inline RequantWords TfLiteSoftmaxWords(float scale_x) {
  return TfLiteMultiplier(static_cast<double>(scale_x) / (10.0 / 65535.0));
}

// --- logistic and tanh: one table for both ---

// logistic(i / 24) in 2^-16, moved as above and rounded once; the last is the greatest number.
inline std::array<int32_t, 256> TfLiteLogisticTable() {
  const auto at = [](double i) { return 65536.0 * Logistic(i / 24.0); };
  std::array<int32_t, 256> table{};
  for (int i = 0; i < 255; ++i) {
    const double x = i, middle = at(x + 0.5) - (at(x) + at(x + 1)) / 2;
    table[static_cast<size_t>(i)] = static_cast<int32_t>(std::floor(at(x) + middle / 2 + 0.5));
  }
  table[255] = 65535;
  return table;
}

// x in units of 1 / (3 * 4096): x factor / 2^shift, rounded up.
struct TfLiteLogisticInput {
  int32_t factor = 0, shift = 0;
};
// Whether LiteRT takes a scale for 2^exponent: within a thousandth of its logarithm, binary32.
inline bool IsTfLitePower(float scale, int exponent) {
  const float log = static_cast<float>(Ln(static_cast<double>(scale))) * (1.0f / 0.69314718f);
  return std::fabs(log - static_cast<float>(exponent)) < 1e-3f;
}
inline TfLiteLogisticInput TfLiteLogisticInputOf(float scale_x, bool tanh) {
  if (IsTfLitePower(scale_x, -12)) return {3, 0};
  if (tanh && IsTfLitePower(scale_x, -11)) return {6, 0};
  double multiplier = static_cast<double>(scale_x) * 4096.0 * 3.0;
  TfLiteLogisticInput input;
  while (multiplier <= 32767.0 / 2.0 && input.shift <= 30) {
    ++input.shift;
    multiplier *= 2.0;
  }
  input.factor = static_cast<int32_t>(multiplier);
  return input;
}
// Factors have 16 bits, so that a product fits 32.
inline constexpr double kMostTfLiteLogisticScale = 32767.0 / (4096.0 * 3.0);

inline int32_t TfLiteLogisticAt(int32_t q, const TfLiteLogisticInput& input) {
  const int32_t half = input.shift > 0 ? 1 << (input.shift - 1) : 0;
  return static_cast<int32_t>((int64_t{q} * input.factor + half) >> input.shift);
}

// The table's number at |x| with `bits` of fraction.
inline int64_t TfLiteLogisticBetween(const std::array<int32_t, 256>& table, int32_t x, int bits,
                                     int64_t most) {
  const int64_t magnitude = std::abs(int64_t{x}), i = magnitude >> bits;
  if (i >= 255) return most << bits;
  const int64_t a = table[static_cast<size_t>(i)], b = table[static_cast<size_t>(i) + 1];
  return (a << bits) + (magnitude & ((1 << bits) - 1)) * (b - a);
}

// y in 2^-15.
inline int32_t TfLiteLogisticInt16(const std::array<int32_t, 256>& table, int32_t q,
                                   const TfLiteLogisticInput& input) {
  const int32_t x = TfLiteLogisticAt(q, input);
  // From the table's end on 32767 / 2^15, of which the table has one bit more.
  const int64_t v = TfLiteLogisticBetween(table, x, 9, 0x7fff * 2);
  const int64_t y = x >= 0 ? v + (1 << 9) : (int64_t{1} << 25) - v + (1 << 9) - 1;
  return static_cast<int32_t>(y >> 10);
}
inline int32_t TfLiteTanhInt16(const std::array<int32_t, 256>& table, int32_t q,
                               const TfLiteLogisticInput& input) {
  const int32_t x = TfLiteLogisticAt(q, input);
  const int64_t v = TfLiteLogisticBetween(table, x, 8, 0xffff) - (1 << 23);
  return static_cast<int32_t>((x >= 0 ? v + 128 : -v + 127) >> 8);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_TFLITE_INT16_H_
