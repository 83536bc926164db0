// LogSoftmax of a row: the logarithm of the sum that softmax_row.h has, once for the row, and a
// step for each unit below the row's greatest number. NUMERICS.md sections 26 and 29.7.
#ifndef RSHIFT_QUANTIZE_NUMERICS_LOG_SOFTMAX_H_
#define RSHIFT_QUANTIZE_NUMERICS_LOG_SOFTMAX_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/logarithm.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

inline constexpr int32_t kLogBits = 26;     // fraction bits of logarithms
inline constexpr int32_t kLogRowBits = 22;  // fraction bits of a row's result
// Of a step: 65,535 of them stay below 2^56, and one leaves the range of 16 bits.
inline constexpr int64_t kMostLogStep = int64_t{1} << 40;

// ln(1 + i / 256) in 2^-26, to the nearest. The last one is ln 2.
inline constexpr std::array<int32_t, 257> kLogTable = [] {
  std::array<int32_t, 257> table{};
  for (int32_t i = 0; i <= 256; ++i) {
    const double ln = Ln(1.0 + static_cast<double>(i) / 256.0);
    table[static_cast<size_t>(i)] = static_cast<int32_t>(RoundHalfEven(ln * (1 << kLogBits)));
  }
  return table;
}();

// ln(sum / 2^30) in 2^-26, sum in [2^30, 2^62): by straight lines between the table's numbers,
// which lie below the logarithm by at most 2^-19. 0 for 2^30, below 2^31.
inline constexpr int64_t LogOfSum(uint64_t sum) {
  const int bits = 64 - std::countl_zero(sum);
  const uint64_t normal = sum << (64 - bits);
  const auto step = static_cast<size_t>((normal >> 55) & 255);
  const auto part = static_cast<int64_t>((normal >> 31) & ((1 << 24) - 1));
  const int64_t rise = kLogTable[step + 1] - kLogTable[step];
  return int64_t{bits - 31} * kLogTable[256] + kLogTable[step] + ShiftRightRounded(rise * part, 24);
}

// What all rows share: a unit's step Sx / Sy in 2^-22, and 2^-4 / Sy, which makes 2^-22 of y of
// logarithms in 2^-26.
struct LogSoftmaxScale {
  int64_t step = 0;
  RequantWords log;
};

inline constexpr LogSoftmaxScale MakeLogSoftmaxScale(float scale_x, float scale_y) {
  const double units = 1.0 / static_cast<double>(scale_y);
  const double step = static_cast<double>(scale_x) * units * (1 << kLogRowBits);
  constexpr auto kMost = static_cast<double>(kMostLogStep);
  return {step >= kMost ? kMostLogStep : static_cast<int64_t>(RoundHalfEven(step)),
          AccumulatorMultiplier(units / (1 << (kLogBits - kLogRowBits)))};
}

// The result of the row's greatest number in 2^-22, zero point and rounding term added; sum as for
// LogOfSum. At least -2^62.
inline constexpr int64_t LogSoftmaxStart(uint64_t sum, const LogSoftmaxScale& scale, int32_t zero) {
  const int64_t log = ShiftRightRounded(LogOfSum(sum) * scale.log.multiplier, scale.log.rshift);
  return (int64_t{zero} << kLogRowBits) + (1 << (kLogRowBits - 1)) - log;
}

// Of the number that is `difference` below the greatest.
inline constexpr int32_t LogSoftmaxNumber(int32_t difference, int64_t start,
                                          const LogSoftmaxScale& scale, int32_t lo, int32_t hi) {
  return Clamp((start - difference * scale.step) >> kLogRowBits, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_LOG_SOFTMAX_H_
