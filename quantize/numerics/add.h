// Addition of two quantized tensors. NUMERICS.md section 5.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ADD_H_
#define RSHIFT_QUANTIZE_NUMERICS_ADD_H_

#include <cstdint>

#include "quantize/numerics/quantize.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

// Symmetric: AddCommonShift of add_forms.h. Asymmetric: dequantize, add, quantize in binary32, in
// this order and without contraction.
inline constexpr int32_t AddFloat(int32_t a, float scale_a, int32_t zero_a, int32_t b,
                                  float scale_b, int32_t zero_b, float scale_y, int32_t zero_y,
                                  int32_t lo, int32_t hi) {
  const float real_a = DequantizeValue(a, scale_a, zero_a);
  const float real_b = DequantizeValue(b, scale_b, zero_b);
  const float sum = real_a + real_b;
  return QuantizeValue(sum, scale_y, zero_y, lo, hi);
}

// multiplier_a / 2^rshift = scale_a / scale_y, likewise b. ok is false when no shift exists (a
// ratio beyond the multiplier's range): the caller then uses AddFloat.
struct AddFactors {
  bool ok = false;
  int32_t multiplier_a = 0, multiplier_b = 0, rshift = 0;
};

// Nearest integer of v * 2^shift for 0 <= v * 2^shift < 2^31, ties up.
inline constexpr int32_t ScaledInteger(double v, int shift) {
  return static_cast<int32_t>(v * static_cast<double>(int64_t{1} << shift) + 0.5);
}

// The largest shift for which both multipliers are below 2^(bits-1) and
//   max_a * multiplier_a + max_b * multiplier_b + 2^(rshift-1) <= 2^15 - 1 (8 bits) or 2^31 - 1 (16
//   bits),
// max_a and max_b being the largest magnitudes of the operands: 128 for s8, 255 for u8. Two
// unsigned operands therefore lose one multiplier bit at 8 bits. Errors: NUMERICS.md 5.2. ratio >
// 0; bits 8 or 16.
inline constexpr AddFactors AddMultipliers(double ratio_a, double ratio_b, int32_t max_a,
                                           int32_t max_b, int bits) {
  const int64_t limit = bits <= 8 ? INT16_MAX : INT32_MAX;
  const double top = static_cast<double>(int64_t{1} << (bits - 1)) - 0.5;
  for (int shift = 30; shift >= 0; --shift) {
    const double unit = static_cast<double>(int64_t{1} << shift);
    if (!(ratio_a * unit < top && ratio_b * unit < top)) continue;
    const int64_t a = ScaledInteger(ratio_a, shift), b = ScaledInteger(ratio_b, shift);
    const int64_t rounding = shift == 0 ? 0 : int64_t{1} << (shift - 1);
    if (max_a * a + max_b * b + rounding > limit) continue;
    return {true, static_cast<int32_t>(a), static_cast<int32_t>(b), shift};
  }
  return {};
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ADD_H_
