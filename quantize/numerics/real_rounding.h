// A real number to an integer by every RealRounding (isa/functions.def), without libm. NUMERICS.md
// section 1.
#ifndef RSHIFT_QUANTIZE_NUMERICS_REAL_ROUNDING_H_
#define RSHIFT_QUANTIZE_NUMERICS_REAL_ROUNDING_H_

#include <cstdint>

#include "isa/functions.h"
#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// |v| <= 2^22. v - whole is exact, so each rule sees the true fraction.
inline constexpr int32_t RoundReal(float v, RealRounding rounding) {
  const auto whole = static_cast<int32_t>(v);  // towards zero
  const float rest = v - static_cast<float>(whole);
  switch (rounding) {
    case RealRounding::kEven:
      return static_cast<int32_t>(RoundHalfEven(v));
    case RealRounding::kAway:
      return whole + (rest >= 0.5f ? 1 : 0) - (rest <= -0.5f ? 1 : 0);
    case RealRounding::kFloor:
      return whole - (rest < 0.0f ? 1 : 0);
    case RealRounding::kCeil:
      return whole + (rest > 0.0f ? 1 : 0);
    case RealRounding::kTruncate:
      break;
  }
  return whole;
}

// As RoundToByte (quantize.h) with any rounding: clamping to integers first changes no result, as
// every rule is monotonic and keeps integers. NaN gives zero, clamped.
inline constexpr int32_t RoundToByteBy(RealRounding rounding, float v, int32_t zero, int32_t lo,
                                       int32_t hi) {
  if (v != v) return zero < lo ? lo : zero > hi ? hi : zero;
  const float low = static_cast<float>(lo - zero);
  const float high = static_cast<float>(hi - zero);
  if (v < low) v = low;
  if (v > high) v = high;
  return RoundReal(v, rounding) + zero;
}

// q = round(x / scale) + zero, saturated.
inline constexpr int32_t QuantizeValueBy(RealRounding rounding, float x, float scale, int32_t zero,
                                         int32_t lo, int32_t hi) {
  return RoundToByteBy(rounding, x / scale, zero, lo, hi);
}

// q = round(x * (1 / scale)) + zero, saturated: two roundings before the last one. It differs from
// the quotient where that lies within a unit in the last place of a tie.
inline constexpr int32_t QuantizeByReciprocal(RealRounding rounding, float x, float scale,
                                              int32_t zero, int32_t lo, int32_t hi) {
  return RoundToByteBy(rounding, x * (1.0f / scale), zero, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_REAL_ROUNDING_H_
