// Requantization in two roundings, as TFLite's reference kernels and gemmlowp do it: a doubling
// high multiplication, then a division by a power of two. NUMERICS.md section 3. Source: Jacob et
// al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference", and the public definition of ARM's SQRDMULH and of rounding right shifts.
#ifndef RSHIFT_QUANTIZE_NUMERICS_TWO_STEP_H_
#define RSHIFT_QUANTIZE_NUMERICS_TWO_STEP_H_

#include <cstdint>

namespace rshift::numerics {

// floor(a * b / 2^31 + 1/2): ties towards +infinity for either sign. The one product that does not
// fit, INT32_MIN * INT32_MIN, gives INT32_MAX.
inline constexpr int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// x / 2^exponent, nearest, ties away from zero. exponent in [0, 62]; from 32 on the result is 0.
inline constexpr int32_t RoundingDivideByPot(int32_t x, int32_t exponent) {
  if (exponent == 0) return x;
  const int64_t half = int64_t{1} << (exponent - 1);
  return static_cast<int32_t>((int64_t{x} + half - (x < 0 ? 1 : 0)) >> exponent);
}

// x * 2^left modulo 2^32; left in [0, 31].
inline constexpr int32_t ShiftLeftModulo(int32_t x, int32_t left) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << left);
}

// acc * multiplier / 2^rshift in two roundings. rshift in [0, 62]; up to 31 it is a left shift of
// acc by 31 - rshift (modulo 2^32: overflow is the caller's to prove away), beyond a division by
// 2^(rshift - 31). multiplier in [0, 2^31).
inline constexpr int32_t MultiplyTwoStep(int32_t acc, int32_t multiplier, int32_t rshift) {
  const int32_t left = rshift < 31 ? 31 - rshift : 0;
  const int32_t right = rshift > 31 ? rshift - 31 : 0;
  return RoundingDivideByPot(
      SaturatingRoundingDoublingHighMul(ShiftLeftModulo(acc, left), multiplier), right);
}

// As MultiplyTwoStep, but the division too rounds half up: LiteRT's ruy kernels on x86. From
// kScalarRemainder on, rshift stands for MultiplyTwoStep by rshift - kScalarRemainder.
inline constexpr int32_t kScalarRemainder = 64;
inline constexpr int32_t MultiplyTwoStepUp(int32_t acc, int32_t multiplier, int32_t rshift) {
  if (rshift >= kScalarRemainder)
    return MultiplyTwoStep(acc, multiplier, rshift - kScalarRemainder);
  const int32_t left = rshift < 31 ? 31 - rshift : 0;
  const int32_t right = rshift > 31 ? rshift - 31 : 0;
  const int64_t high = SaturatingRoundingDoublingHighMul(ShiftLeftModulo(acc, left), multiplier);
  if (right == 0) return static_cast<int32_t>(high);
  return static_cast<int32_t>((high + (int64_t{1} << (right - 1))) >> right);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_TWO_STEP_H_
