// Additions and products of two bytes in the frameworks' forms. NUMERICS.md, profiles. Sources:
// TFLite's Add and Mul, XNNPACK's add, Caffe2's Int8Add, ONNX Runtime's QLinearAdd and QLinearMul.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ADD_FORMS_H_
#define RSHIFT_QUANTIZE_NUMERICS_ADD_FORMS_H_

#include <cmath>
#include <cstdint>

#include "isa/functions.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

// (va * multiplier_a + vb * multiplier_b) / 2^rshift + zero_y, half up, in 32 bits; v = q - Z.
// The sum with its rounding term fits int32 (proved by the verifier), rshift in [0, 30].
inline constexpr int32_t AddCommonShift(int32_t va, int32_t vb, int32_t multiplier_a,
                                        int32_t multiplier_b, int32_t rshift, int32_t zero_y,
                                        int32_t lo, int32_t hi) {
  const int32_t sum = va * multiplier_a + vb * multiplier_b;
  const int32_t rounded = rshift == 0 ? sum : (sum + (int32_t{1} << (rshift - 1))) >> rshift;
  const int32_t low = lo - zero_y, high = hi - zero_y;
  return (rounded < low ? low : rounded > high ? high : rounded) + zero_y;
}

// The same with ties away from zero, in 64 bits: any multipliers, rshift in [0, 62].
inline constexpr int32_t AddCommonShiftAway(int32_t va, int32_t vb, int32_t multiplier_a,
                                            int32_t multiplier_b, int32_t rshift, int32_t zero_y,
                                            int32_t lo, int32_t hi) {
  const int64_t sum = int64_t{va} * multiplier_a + int64_t{vb} * multiplier_b;
  return Clamp(ShiftRightAway(sum, rshift) + zero_y, lo, hi);
}

// One operand of TFLite's Add: v << left, rescaled. v = q - Z, left in [0, 20], rshift >= 31: the
// result is at most 255 * 2^20 in magnitude, so two of them add up in int32.
inline constexpr int32_t AddShiftedTerm(Rounding rounding, int32_t v, int32_t left,
                                        int32_t multiplier, int32_t rshift) {
  return static_cast<int32_t>(ScaleInteger(rounding, v * (1 << left), multiplier, rshift));
}

// The same in the blocks of LiteRT's optimised kernels (AddBlocks of isa/functions.def): 16
// elements, the shift before the product; 8 elements, a shift towards -infinity after it.
inline constexpr int32_t AddBlockOf16Term(int32_t v, int32_t left, int32_t multiplier,
                                          int32_t rshift) {
  const int32_t shift = left - (rshift - 31);
  const int32_t shifted = shift >= 0 ? v * (1 << shift) : v >> (shift < -31 ? 31 : -shift);
  return SaturatingRoundingDoublingHighMul(shifted, multiplier);
}
inline constexpr int32_t AddBlockOf8Term(int32_t v, int32_t left, int32_t multiplier,
                                         int32_t rshift) {
  return SaturatingRoundingDoublingHighMul(v * (1 << left), multiplier) >> (rshift - 31);
}

// ONNX Runtime computes on unsigned bytes: what an s8 tensor adds to its bytes and zero point
// before, and takes off after.
inline constexpr int32_t UnsignedShift(bool is_signed) { return is_signed ? 128 : 0; }

// a, b: unsigned bytes. fma(a, ratio_a, fma(b, ratio_b, fixed)), each fma with one rounding; to
// even; back to the type of y. All finite, so never NaN.
inline int32_t AddFma(int32_t a, int32_t b, float ratio_a, float ratio_b, float fixed,
                      int32_t shift_y, int32_t lo, int32_t hi) {
  const float inner = std::fma(static_cast<float>(b), ratio_b, fixed);
  return RoundToByte(std::fma(static_cast<float>(a), ratio_a, inner), -shift_y, lo, hi);
}

// OpenVINO's form. a, b: as their types hold them.
inline int32_t AddScaled(int32_t a, int32_t b, float zero_a, float ratio, float scale, float shift,
                         int32_t after, int32_t lo, int32_t hi) {
  const float sum = std::fma(static_cast<float>(a) - zero_a, ratio, static_cast<float>(b));
  const float scaled = sum * scale;
  const float units = scaled + shift;
  return RoundToByte(units, -after, lo, hi);
}

// ONNX Runtime's form of a product: product, then sum with the unsigned zero point; to even.
inline constexpr int32_t MulFloatZero(int32_t product, float scale, int32_t zero_y, int32_t shift_y,
                                      int32_t lo, int32_t hi) {
  const float scaled = static_cast<float>(product) * scale;
  return RoundToByte(scaled + static_cast<float>(zero_y + shift_y), -shift_y, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ADD_FORMS_H_
