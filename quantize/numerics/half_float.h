// Ascend's epilogue of a convolution: dequantize to binary16, bias and relu in binary16,
// AscendQuant. NUMERICS.md section 3. Source: the CANN documentation of AscendDequant and
// AscendQuant.
#ifndef RSHIFT_QUANTIZE_NUMERICS_HALF_FLOAT_H_
#define RSHIFT_QUANTIZE_NUMERICS_HALF_FLOAT_H_

#include <cstdint>

#include "base/half.h"
#include "isa/attributes.h"
#include "quantize/numerics/real_rounding.h"

namespace rshift::numerics {

// Nearest binary16, ties to even; overflow is an infinity.
inline float RoundToHalf(float v) { return HalfToFloat(FloatToHalf(v)); }

// h = fp16(float(acc) * scale) with the product in binary32, relu_flag; h = fp16(h + bias_f); relu.
inline float DequantizeHalf(int32_t acc, float scale, float bias_f, const HalfEpilogue& epilogue) {
  float v = static_cast<float>(acc) * scale;
  if (epilogue.sqrt_dequant) v = v * scale;
  float h = RoundToHalf(v);
  if (epilogue.relu_flag && h < 0.0f) h = 0.0f;
  h = RoundToHalf(h + bias_f);
  return epilogue.relu && h < 0.0f ? 0.0f : h;
}

// round(h * quant_scale + quant_offset), product and sum in binary32, saturated to [lo, hi]. The
// output's zero point is in quant_offset.
inline int32_t QuantizeHalf(float h, const HalfEpilogue& epilogue, int32_t lo, int32_t hi) {
  float v = h * epilogue.quant_scale;
  if (epilogue.sqrt_quant) v = v * epilogue.quant_scale;
  return RoundToByteBy(epilogue.mode, v + epilogue.quant_offset, 0, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_HALF_FLOAT_H_
