// The quotient of two bytes by a reciprocal of each divisor. NUMERICS.md section 5.9.
#ifndef RSHIFT_QUANTIZE_NUMERICS_DIVIDE_H_
#define RSHIFT_QUANTIZE_NUMERICS_DIVIDE_H_

#include <cstdint>

#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

inline constexpr int32_t kReciprocalBits = 22;

// round(factor / divisor * 2^22), factor = S_a / S_y, divisor the real number that b stands for;
// saturated to +-(2^31 - 1), which is 512 and more: every dividend but 0 then saturates. A divisor
// of 0 is a positive one as small as can be.
inline constexpr int32_t DivisionReciprocal(double factor, double divisor) {
  constexpr double kMost = 2147483647.0;
  if (divisor == 0.0) return INT32_MAX;
  const double v = factor / divisor * 4194304.0;
  if (v >= kMost) return INT32_MAX;
  if (v <= -kMost) return -INT32_MAX;
  return static_cast<int32_t>(v < 0 ? v - 0.5 : v + 0.5);
}

// dividend = q_a - Z_a.
inline constexpr int32_t Divide(int32_t dividend, int32_t reciprocal, int32_t zero_y, int32_t lo,
                                int32_t hi) {
  return Clamp(MultiplyShift(dividend, reciprocal, kReciprocalBits) + zero_y, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_DIVIDE_H_
