// LeakyReLU and PReLU. NUMERICS.md sections 7 and 8.
#ifndef RSHIFT_QUANTIZE_NUMERICS_LEAKY_RELU_H_
#define RSHIFT_QUANTIZE_NUMERICS_LEAKY_RELU_H_

#include <cstdint>

#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

struct LeakyParams {
  int32_t zero_x = 0, zero_y = 0;
  int32_t multiplier = 0, rshift = 0;                    // negative side: alpha * Sx / Sy
  int32_t multiplier_positive = 0, rshift_positive = 0;  // Sx / Sy; multiplier 0: factor 1
  int32_t lo = -128, hi = 127;
};

// The branch is on x >= zero_x: with a zero point, x >= 0 is not the real 0. A negative multiplier
// is allowed (|multiplier| < 2^31); multiplier 0 on the negative side is alpha 0.
inline constexpr int32_t LeakyRelu(int32_t x, const LeakyParams& p) {
  const int32_t v = x - p.zero_x;
  const int64_t y = v >= 0 ? Rescale(v, p.multiplier_positive, p.rshift_positive)
                           : MultiplyShift(v, p.multiplier, p.rshift);
  return Clamp(y + p.zero_y, p.lo, p.hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_LEAKY_RELU_H_
