// float <-> 8-bit value. NUMERICS.md section 1.
#ifndef RSHIFT_QUANTIZE_NUMERICS_QUANTIZE_H_
#define RSHIFT_QUANTIZE_NUMERICS_QUANTIZE_H_

#include <cfloat>
#include <cstdint>

namespace rshift::numerics {

static_assert(FLT_EVAL_METHOD == 0,
              "float arithmetic must be IEEE binary32, without excess precision");

// Nearest integer, ties to even, without libm: adding 1.5 * 2^23 leaves no room for a fraction, and
// the addition itself rounds. |v| <= 2^22; the default rounding mode.
inline constexpr float RoundHalfEven(float v) {
  constexpr float kMagic = 12582912.0f;
  return (v + kMagic) - kMagic;
}

// The same in double with 1.5 * 2^52: |v| <= 2^51. Larger values are integers already and returned
// as they are.
inline constexpr double RoundHalfEven(double v) {
  constexpr double kMagic = 6755399441055744.0;
  if (!(v < 2251799813685248.0 && v > -2251799813685248.0)) return v;
  return (v + kMagic) - kMagic;
}

// v + zero, rounded to nearest even and saturated to [lo, hi]; v in units of the scale. NaN gives
// zero. The clamp comes first (its bounds are integers, so the result is that of clamping last):
// infinities and values that no int32 holds are safe. |lo|, |hi|, |zero| <= 2^20.
inline constexpr int32_t RoundToByte(float v, int32_t zero, int32_t lo, int32_t hi) {
  if (v != v) return zero < lo ? lo : zero > hi ? hi : zero;
  const float low = static_cast<float>(lo - zero);
  const float high = static_cast<float>(hi - zero);
  if (v < low) v = low;
  if (v > high) v = high;
  return static_cast<int32_t>(RoundHalfEven(v)) + zero;
}

// q = round(x / scale) + zero, saturated to [lo, hi] (the range of the type, or a narrower clamp).
// One IEEE division: multiplying by a reciprocal would round twice. scale > 0 and finite.
inline constexpr int32_t QuantizeValue(float x, float scale, int32_t zero, int32_t lo, int32_t hi) {
  return RoundToByte(x / scale, zero, lo, hi);
}

// x = scale * (q - zero): exact but for the one rounding of the product.
inline constexpr float DequantizeValue(int32_t q, float scale, int32_t zero) {
  return static_cast<float>(q - zero) * scale;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_QUANTIZE_H_
