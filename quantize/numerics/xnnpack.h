// The numbers of XNNPACK's kernels on x86, LiteRT's default delegate. NUMERICS.md, profile
// tflite-xnnpack. Source: XNNPACK's public parameter functions, and experiments with the delegate
// on values at and beside every tie (tests/e2e/frameworks).
#ifndef RSHIFT_QUANTIZE_NUMERICS_XNNPACK_H_
#define RSHIFT_QUANTIZE_NUMERICS_XNNPACK_H_

#include <bit>
#include <cstdint>

#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// Convolution, FullyConnected, Mul: float(acc) * scale, to even, + Z. S_x S_w / S_y from left to
// right, each operation in binary32.
inline constexpr float FloatScale(float scale_x, float scale_w, float scale_y) {
  const float product = scale_x * scale_w;
  return product / scale_y;
}

// Add: y = (((a - Za) * multiplier_a + (b - Zb) * multiplier_b + 2^(shift-1)) >> shift) + Zy. The
// larger multiplier is in [2^20, 2^21]: the sum is below 2 * 255 * 2^21 < 2^31. ok is false where
// the delegate refuses: a ratio outside [2^-10, 2^8).
struct XnnpackAddFactors {
  bool ok = false;
  int32_t multiplier_a = 0, multiplier_b = 0, shift = 0;
};
inline constexpr XnnpackAddFactors XnnpackAdd(float scale_a, float scale_b, float scale_y) {
  const float ratio_a = scale_a / scale_y, ratio_b = scale_b / scale_y;
  const auto fits = [](float ratio) { return ratio >= 0x1p-10f && ratio < 0x1p8f; };
  if (!fits(ratio_a) || !fits(ratio_b)) return {};
  const float largest = ratio_a > ratio_b ? ratio_a : ratio_b;
  const int32_t exponent = static_cast<int32_t>(std::bit_cast<uint32_t>(largest) >> 23) - 127;
  const int32_t shift = 20 - exponent;
  const auto unit = static_cast<double>(int64_t{1} << shift);
  return {true, static_cast<int32_t>(RoundHalfEven(static_cast<double>(ratio_a) * unit)),
          static_cast<int32_t>(RoundHalfEven(static_cast<double>(ratio_b) * unit)), shift};
}

// Mean over n elements: y = to_even(float(sum of q) * scale + bias), the zero points in the bias.
// The sum of n elements is divided by 1.
struct XnnpackMeanFactors {
  float scale = 0, bias = 0;
};
inline constexpr XnnpackMeanFactors XnnpackMean(float scale_x, int32_t zero_x, float scale_y,
                                                int32_t zero_y, int64_t n, int64_t divisor) {
  const float ratio = scale_x / scale_y;
  const float inverse = 1.0f / static_cast<float>(divisor);
  const float scale = ratio * inverse;
  const float zero = static_cast<float>(n * zero_x) * scale;
  return {scale, static_cast<float>(zero_y) - zero};
}

// LeakyReLU: multipliers with 8 fraction bits, one rounding half up.
inline constexpr int32_t XnnpackLeakyRelu(int32_t v, float scale_x, float alpha, float scale_y) {
  const float ratio = scale_x / scale_y;
  const float negative = ratio * alpha;
  const float factor = (v >= 0 ? ratio : negative) * 256.0f;
  const auto multiplier = static_cast<int32_t>(RoundHalfEven(factor));
  return (v * multiplier + 128) >> 8;
}

// Quantize from integers to integers: a multiplier with 8 fraction bits, one rounding half up.
inline constexpr int32_t XnnpackRescale(int32_t v, float scale_x, float scale_y) {
  const float ratio = scale_x / scale_y;
  const auto multiplier = static_cast<int32_t>(RoundHalfEven(ratio * 256.0f));
  return (v * multiplier + 128) >> 8;
}
// Where the delegate takes the node: LeakyReLU and Quantize by S_x / S_y; Mul by S_a S_b / S_y.
inline constexpr bool IsXnnpackRescale(float ratio) { return ratio >= 0x1p-8f && ratio < 0x1p8f; }
inline constexpr bool IsXnnpackRatio(float ratio) { return ratio >= 0x1p-8f && ratio <= 0x1p7f; }
inline constexpr bool IsXnnpackMulScale(float scale) { return scale >= 0x1p-16f && scale < 0x1p8f; }

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_XNNPACK_H_
