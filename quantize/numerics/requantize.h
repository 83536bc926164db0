// int32 accumulator -> 8-bit value by Multiplier / 2^rshift. NUMERICS.md section 3.
#ifndef RSHIFT_QUANTIZE_NUMERICS_REQUANTIZE_H_
#define RSHIFT_QUANTIZE_NUMERICS_REQUANTIZE_H_

#include <cstdint>

namespace rshift::numerics {

// floor(value / 2^rshift + 1/2): one rounding, ties towards +infinity. rshift in [0, 62]; 0 rounds
// nothing. |value| <= 2^62, so that the rounding term cannot overflow.
inline constexpr int64_t ShiftRightRounded(int64_t value, int32_t rshift) {
  if (rshift == 0) return value;
  return (value + (int64_t{1} << (rshift - 1))) >> rshift;
}

// value * multiplier / 2^rshift, rounded once. |value| <= 2^31, |multiplier| < 2^31.
inline constexpr int64_t MultiplyShift(int64_t value, int32_t multiplier, int32_t rshift) {
  return ShiftRightRounded(value * multiplier, rshift);
}

inline constexpr int32_t Clamp(int64_t value, int32_t lo, int32_t hi) {
  if (value < lo) return lo;
  if (value > hi) return hi;
  return static_cast<int32_t>(value);
}

// Convolution, MatMul: accumulator (bias included) -> value in [lo, hi]. The zero point is added
// after the rounding, before the saturation.
inline constexpr int32_t Requantize(int32_t accumulator, int32_t multiplier, int32_t rshift,
                                    int32_t zero_y, int32_t lo, int32_t hi) {
  return Clamp(MultiplyShift(accumulator, multiplier, rshift) + zero_y, lo, hi);
}

// v * Multiplier / 2^rshift of the difference v = x - zero_x; multiplier 0 stands for the factor 1.
inline constexpr int64_t Rescale(int32_t v, int32_t multiplier, int32_t rshift) {
  return multiplier == 0 ? v : MultiplyShift(v, multiplier, rshift);
}

// One 8-bit value from its own scale and zero point to another's, or a clip on its own (multiplier
// 0).
inline constexpr int32_t RequantizeByte(int32_t x, int32_t zero_x, int32_t multiplier,
                                        int32_t rshift, int32_t zero_y, int32_t lo, int32_t hi) {
  return Clamp(Rescale(x - zero_x, multiplier, rshift) + zero_y, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_REQUANTIZE_H_
