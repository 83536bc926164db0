// PReLU: LeakyReLU with an 8-bit slope for each channel and one shift for all. NUMERICS.md
// section 8.
#ifndef RSHIFT_QUANTIZE_NUMERICS_PRELU_H_
#define RSHIFT_QUANTIZE_NUMERICS_PRELU_H_

#include <cstdint>

#include "quantize/numerics/leaky_relu.h"
#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// `p.multiplier` is the channel's slope in [-127, 127], `p.rshift` the common shift.
inline constexpr int32_t PRelu(int32_t x, const LeakyParams& p) { return LeakyRelu(x, p); }

// The largest rshift in [0, 30] at which |slope| * 2^rshift rounds to at most 127, for the largest
// |slope| (alpha * Sx / Sy). 0 when the slope is 0, and from 127.5 on, where PReluSlope saturates
// to 127.
inline constexpr int32_t PReluShift(double largest_slope) {
  if (largest_slope == 0) return 0;
  for (int32_t shift = 30; shift >= 0; --shift) {
    if (largest_slope * static_cast<double>(int64_t{1} << shift) < 127.5) return shift;
  }
  return 0;
}

// slope * 2^rshift to nearest even, in [-127, 127] by the choice of rshift.
inline constexpr int8_t PReluSlope(double slope, int32_t rshift) {
  const double v = RoundHalfEven(slope * static_cast<double>(int64_t{1} << rshift));
  return static_cast<int8_t>(v > 127 ? 127 : v < -127 ? -127 : v);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_PRELU_H_
