// QNNPACK's and Caffe2's integers. NUMERICS.md, profile caffe2. Source: the public definitions of
// QNNPACK's requantization (q31, fp32, precise) and of its quantized addition.
#ifndef RSHIFT_QUANTIZE_NUMERICS_QNNPACK_H_
#define RSHIFT_QUANTIZE_NUMERICS_QNNPACK_H_

#include <bit>
#include <cstdint>

#include "base/error.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

// The range of scales that QNNPACK takes: [2^-32, 1).
inline constexpr float kQnnpackSmallestScale = 0x1p-32f;
inline constexpr bool IsQnnpackScale(float scale) {
  return scale >= kQnnpackSmallestScale && scale < 1.0f;
}

// The 24-bit mantissa of a binary32 scale, exactly: Multiplier in [2^30, 2^31 - 128] with 7 low
// bits 0, rshift in [31, 62]. q31 is Rounding::kTwoStep with these words; precise is kHalfAway with
// them; fp32 is kFloatEven with the scale itself. Throws kInvalidInput unless 2^-32 <= scale < 1.
inline constexpr RequantWords QnnpackMultiplier(float scale) {
  if (!IsQnnpackScale(scale)) {
    Fail(ErrorCode::kInvalidInput, "QNNPACK: scale ", scale,
         " is outside [2^-32, 1); widen the range of the output tensor");
  }
  const uint32_t raw = std::bit_cast<uint32_t>(scale);
  const uint32_t mantissa = (raw & 0x7fffff) | 0x800000;
  // scale = mantissa * 2^(e - 150) = (mantissa << 7) * 2^(e - 157), e the biased exponent.
  return {static_cast<int32_t>(mantissa << 7), 157 - static_cast<int32_t>(raw >> 23)};
}

// Scales of 1 and more, which QNNPACK refuses: the same exact mantissa with rshift below 31.
// Smaller ones than 2^-32: {0, 0}, every accumulator rounds to 0. scale > 0, finite; from 2^31 on
// {2^31 - 1, 0}.
inline constexpr RequantWords MantissaMultiplier(float scale) {
  if (scale >= 2147483648.0f) return {INT32_MAX, 0};
  if (scale < kQnnpackSmallestScale) return {};
  const uint32_t raw = std::bit_cast<uint32_t>(scale);
  const uint32_t mantissa = (raw & 0x7fffff) | 0x800000;
  return {static_cast<int32_t>(mantissa << 7), 157 - static_cast<int32_t>(raw >> 23)};
}

// Int8Add: y = clamp(round((a - Z_a) M_a + (b - Z_b) M_b >> shift, half away) + Z_y).
// M = ratio * 2^shift to even, ratio = S_a / S_y in binary32; shift puts the larger M into [2^21,
// 2^22). The sum fits int32: 2 * 255 * 2^22 < 2^31; with its rounding term 2^30 it takes 64 bits.
struct QnnpackAddFactors {
  bool ok = false;
  int32_t multiplier_a = 0, multiplier_b = 0, shift = 0;
};

// ok is false outside QNNPACK's range: both ratios in [2^-14, 2^8), then shift is in [14, 35].
inline constexpr QnnpackAddFactors QnnpackAdd(float scale_a, float scale_b, float scale_y) {
  const float ratio_a = scale_a / scale_y, ratio_b = scale_b / scale_y;
  const auto fits = [](float ratio) { return ratio >= 0x1p-14f && ratio < 256.0f; };
  if (!fits(ratio_a) || !fits(ratio_b)) return {};
  const float largest = ratio_a > ratio_b ? ratio_a : ratio_b;
  const int32_t exponent = static_cast<int32_t>(std::bit_cast<uint32_t>(largest) >> 23) - 127;
  const int32_t shift = 21 - exponent;
  const double unit = static_cast<double>(int64_t{1} << shift);  // exact products below
  return {true, static_cast<int32_t>(RoundHalfEven(static_cast<double>(ratio_a) * unit)),
          static_cast<int32_t>(RoundHalfEven(static_cast<double>(ratio_b) * unit)), shift};
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_QNNPACK_H_
