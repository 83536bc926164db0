// Quantization whose scale and zero point come from the tensor itself, as DynamicQuantizeLinear
// defines it. NUMERICS.md section 21.
#ifndef RSHIFT_QUANTIZE_NUMERICS_DYNAMIC_H_
#define RSHIFT_QUANTIZE_NUMERICS_DYNAMIC_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "quantize/numerics/real_rounding.h"

namespace rshift::numerics {

// The scale and the zero point as a number: what a program keeps in one tensor.
struct DynamicParams {
  float scale = 1, zero = 0;
};

// Of u8 from the least and the greatest element. A NaN among them gives the scale NaN.
inline DynamicParams DynamicParamsOf(float least, float greatest) {
  if (std::isnan(least) || std::isnan(greatest))
    return {std::numeric_limits<float>::quiet_NaN(), 0};
  const float max = greatest > 0 ? greatest : 0, min = least < 0 ? least : 0;
  const float scale = max == min ? 1.0f : (max - min) / 255.0f;
  const float zero = 0.0f - min / scale;
  if (!(zero > 0)) return {scale, 0};  // a NaN: both ends are infinite
  return {scale, static_cast<float>(RoundHalfEven(zero < 255 ? zero : 255.0f))};
}

// The zero point that a record holds, as an integer of the type: whatever it holds.
inline int32_t DynamicZero(float zero, bool is_signed) {
  const float lo = is_signed ? -128.0f : 0.0f, hi = is_signed ? 127.0f : 255.0f;
  if (!(zero > lo)) return static_cast<int32_t>(lo);
  return static_cast<int32_t>(RoundHalfEven(zero < hi ? zero : hi));
}

// `scale` is the product of both factors' scales, rounded.
inline float DynamicResult(int32_t acc, float scale, float bias) {
  return static_cast<float>(acc) * scale + bias;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_DYNAMIC_H_
