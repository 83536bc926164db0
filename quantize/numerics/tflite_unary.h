// LiteRT's integer functions of one byte: HardSwish, Abs, Sqrt, Rsqrt. NUMERICS.md section 13.7.
#ifndef RSHIFT_QUANTIZE_NUMERICS_TFLITE_UNARY_H_
#define RSHIFT_QUANTIZE_NUMERICS_TFLITE_UNARY_H_

#include <cmath>
#include <cstdint>

#include "quantize/numerics/l2_normalize.h"
#include "quantize/numerics/tflite_multiplier.h"
#include "quantize/numerics/two_step.h"

namespace rshift::numerics {

// A positive factor as a 16-bit multiplier in [2^14, 2^15) and a power of two:
// factor = multiplier 2^(exponent - 15).
struct HalfMultiplier {
  int32_t multiplier = 0;
  int32_t exponent = 0;
};

inline constexpr HalfMultiplier TfLiteHalfMultiplier(float factor) {
  const RequantWords m = TfLiteMultiplier(static_cast<double>(factor));
  const int64_t rounded = (int64_t{m.multiplier} + (1 << 15)) >> 16;
  return {rounded > INT16_MAX ? INT16_MAX : static_cast<int32_t>(rounded), 31 - m.rshift};
}

inline constexpr int32_t SaturateTo16(int64_t v) {
  return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : static_cast<int32_t>(v);
}

// x 2^left, saturated; 24 places saturate everything but 0.
inline constexpr int32_t ShiftLeftTo16(int32_t x, int32_t left) {
  return SaturateTo16(int64_t{x} * (int64_t{1} << (left > 24 ? 24 : left)));
}

// a b / 2^15 to nearest, ties towards +infinity (the halves of negative products go to zero).
inline constexpr int32_t RoundingHighMul16(int32_t a, int32_t b) {
  if (a == INT16_MIN && b == INT16_MIN) return INT16_MAX;
  const int32_t product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

// HardSwish of q - Z_x, without Z_y: relu6(x + 3) / 6 as a factor of 16 bits in [0, 1), times x in
// units of the output before its last shift.
inline constexpr int32_t TfLiteHardSwish(int32_t v, float scale_x, float scale_y) {
  const float fine = scale_x * (1.0f / 128.0f);
  const HalfMultiplier out = TfLiteHalfMultiplier(fine / scale_y);
  const HalfMultiplier gate = TfLiteHalfMultiplier(fine / (3.0f / 32768.0f));
  const int32_t x = v * 128;
  int32_t g = x;
  if (gate.exponent > 0) g = ShiftLeftTo16(g, gate.exponent - 1);
  g = RoundingHighMul16(g, gate.multiplier);
  if (gate.exponent > 0) g = ShiftLeftTo16(g, 1);
  if (gate.exponent < 0) g = RoundingDivideByPot(g, -gate.exponent);
  g = (g + (1 << 15)) >> 1;
  const int32_t y = g * RoundingHighMul16(x, out.multiplier) / (1 << 15);
  return out.exponent <= 0 ? RoundingDivideByPot(y, -out.exponent) : ShiftLeftTo16(y, out.exponent);
}

// |q - Z_x| without Z_y: two steps by the quotient of the scales in binary32.
inline constexpr int32_t TfLiteAbs(int32_t v, float scale_x, float scale_y) {
  const RequantWords m = TfLiteMultiplier(static_cast<double>(scale_x / scale_y));
  return MultiplyTwoStep(v < 0 ? -v : v, m.multiplier, m.rshift);
}

// Truncated, not rounded. Below 0, where LiteRT stops with an error: 0.
inline int32_t TfLiteSqrt(int32_t v, float scale_x, float scale_y) {
  if (v <= 0) return 0;
  const float root = std::sqrt(static_cast<float>(v) * scale_x);
  const float quotient = root / scale_y;
  constexpr float kFar = 1e9f;
  return static_cast<int32_t>(quotient > kFar ? kFar : quotient);
}

// 1 / sqrt, without Z_y; `most` where it has no value: at 0, and below, where LiteRT stops with an
// error.
inline int32_t TfLiteRsqrt(int32_t v, float scale_x, float scale_y, int32_t most) {
  if (v <= 0) return most;
  constexpr int kBits = 20;  // of 1 / sqrt(v) as an integer
  const InverseLength inverse = InverseLengthOf(v);
  const int32_t root = MultiplyTwoStep(1, inverse.multiplier, inverse.rshift - kBits);
  const float unit = std::sqrt(scale_x) * scale_y;
  const RequantWords m = TfLiteMultiplier(1.0 / static_cast<double>(unit));
  return MultiplyTwoStep(root, m.multiplier, m.rshift + kBits);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_TFLITE_UNARY_H_
