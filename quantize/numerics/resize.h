// Interpolation of integers with fixed-point coefficients. NUMERICS.md sections 11.1 and 29.8.
#ifndef RSHIFT_QUANTIZE_NUMERICS_RESIZE_H_
#define RSHIFT_QUANTIZE_NUMERICS_RESIZE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/resize_taps.h"

namespace rshift::numerics {

// Of one axis; an accumulator over two has twice as many fraction bits.
inline constexpr int kResizeBits = 11;
inline constexpr int64_t kResizeUnit = int64_t{1} << kResizeBits;
inline constexpr int kMostResizedAxes = 2;
// The product over the axes of the greatest sum of |coefficient|: at most 2.5 units, so that 128 of
// it fits 32 bits, and 255 of it times a multiplier 63.
inline constexpr int64_t kMostResizeGain = (int64_t{5} << (2 * kResizeBits)) / 2;

// Weights that add up to 1 as integers that add up to 2^bits: each rounded down, then those with
// the largest remainders up (of equal ones the first).
template <size_t N>
std::array<int32_t, N> ResizeCoefficients(const std::array<ResizeTap, N>& taps,
                                          int bits = kResizeBits) {
  std::array<int32_t, N> result;
  std::array<double, N> rest;
  int64_t missing = int64_t{1} << bits;
  const auto unit = static_cast<double>(missing);
  for (size_t i = 0; i < N; ++i) {
    const double exact = static_cast<double>(taps[i].weight) * unit;
    const double low = std::floor(exact);
    result[i] = static_cast<int32_t>(low);
    rest[i] = exact - low;
    missing -= result[i];
  }
  for (; missing > 0; --missing) {
    size_t most = 0;
    for (size_t i = 1; i < N; ++i) most = rest[i] > rest[most] ? i : most;
    ++result[most];
    rest[most] -= 1;
  }
  for (; missing < 0; ++missing) --result[0];  // weights of f32 may add up to a little more
  return result;
}

// M / 2^rshift = ratio / 2^(11 axes), for a result of another type. Below 2^-10 it always rounds to
// 0.
inline constexpr RequantWords ResizeWords(double ratio, int axes) {
  const double scale = ratio / static_cast<double>(int64_t{1} << (kResizeBits * axes));
  const RequantWords words = AccumulatorMultiplier(scale);
  return words.multiplier == 0 ? RequantWords{1, kMaxRshift} : words;
}

struct ResizeParams {
  RequantWords words;  // multiplier 0: x and y are of one type
  int32_t axes = 0;
  int32_t lift = 0;  // 128 of a u8 tensor: sums are of q - lift, in [-128, 127]
  int32_t zero_x = 0, zero_y = 0, lo = 0, hi = 0;
};

// sum: of coefficient products times q_x - lift.
inline constexpr int32_t FinishResize(int32_t sum, const ResizeParams& p) {
  const int32_t bits = kResizeBits * p.axes;
  if (p.words.multiplier == 0) return Clamp(ShiftRightRounded(sum, bits) + p.lift, p.lo, p.hi);
  const int64_t v = sum + ((int64_t{p.lift} - p.zero_x) * (int64_t{1} << bits));
  return Clamp(ShiftRightRounded(v * p.words.multiplier, p.words.rshift) + p.zero_y, p.lo, p.hi);
}

// --- s16 ---

// Of one axis; an accumulator over two has twice as many fraction bits.
inline constexpr int kResizeInt16Bits = 15;
// The greatest sum of |coefficient| along one axis, whose sums with s16 then fit 32 bits, and the
// product over the axes, with which they are within 2^46.
inline constexpr int64_t kMostInt16AxisGain = 65535;
inline constexpr int64_t kMostInt16ResizeGain = int64_t{1} << (2 * kResizeInt16Bits + 1);
inline constexpr int32_t kMostInt16ResizeMultiplier = (1 << 16) - 1;

// M / 2^rshift = ratio / 2^(15 axes): the largest rshift up to 62 at which M fits 16 bits.
inline constexpr RequantWords ResizeInt16Words(double ratio, int axes) {
  const double scale = ratio / static_cast<double>(int64_t{1} << (kResizeInt16Bits * axes));
  constexpr double kMost = kMostInt16ResizeMultiplier;
  RequantWords words{0, kMaxRshift};
  double m = scale * static_cast<double>(int64_t{1} << kMaxRshift);
  for (; words.rshift > 0 && !(m < kMost); --words.rshift) m /= 2;
  words.multiplier = m < kMost ? static_cast<int32_t>(m + 0.5) : kMostInt16ResizeMultiplier;
  return words;
}

// sum: of coefficient products times q_x, within 2^46; the product is below 2^62.
inline constexpr int32_t FinishResizeInt16(int64_t sum, RequantWords words, int32_t zero_y,
                                           int32_t lo, int32_t hi) {
  return Clamp(ShiftRightRounded(sum * words.multiplier, words.rshift) + zero_y, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_RESIZE_H_
