// Average pooling: a float scale and offset on the integer sum. NUMERICS.md section 6.
#ifndef RSHIFT_QUANTIZE_NUMERICS_AVERAGE_POOL_H_
#define RSHIFT_QUANTIZE_NUMERICS_AVERAGE_POOL_H_

#include <cstdint>

#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// y = round(scale / count * sum + offset), saturated; each operation rounded to binary32 in this
// order, without contraction. `sum` holds `count` (>= 1) taps; a pad that counts
// (count_include_pad) adds zero_x to the sum, the quantized 0. scale = Sx / Sy, offset = Zy - Sx /
// Sy * Zx.
inline constexpr int32_t AveragePool(int32_t sum, int32_t count, float scale, float offset,
                                     int32_t lo, int32_t hi) {
  const float factor = scale / static_cast<float>(count);
  const float product = factor * static_cast<float>(sum);
  const float v = product + offset;
  return RoundToByte(v, 0, lo, hi);
}

// The seed writes "- Offset" with Offset = Zy - Sx/Sy*Zx; its own step 1 gives "+ Offset".
inline constexpr float AveragePoolOffset(float scale, int32_t zero_x, int32_t zero_y) {
  return static_cast<float>(static_cast<double>(zero_y) -
                            static_cast<double>(scale) * static_cast<double>(zero_x));
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_AVERAGE_POOL_H_
