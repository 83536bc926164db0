// int32 accumulator -> 8-bit value, for every Rounding of isa/functions.def. NUMERICS.md section 3.
#ifndef RSHIFT_QUANTIZE_NUMERICS_REQUANTIZE_H_
#define RSHIFT_QUANTIZE_NUMERICS_REQUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "isa/functions.h"
#include "quantize/numerics/double_scale.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/two_step.h"

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

// As ShiftRightRounded, but ties away from zero.
inline constexpr int64_t ShiftRightAway(int64_t value, int32_t rshift) {
  if (rshift == 0) return value;
  return (value + (int64_t{1} << (rshift - 1)) - (value < 0 ? 1 : 0)) >> rshift;
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

// The integer roundings without zero point and saturation: acc * multiplier / 2^rshift.
inline constexpr int64_t ScaleInteger(Rounding rounding, int32_t acc, int32_t multiplier,
                                      int32_t rshift) {
  switch (rounding) {
    case Rounding::kTwoStep:
      return MultiplyTwoStep(acc, multiplier, rshift);
    case Rounding::kTwoStepUp:
      return MultiplyTwoStepUp(acc, multiplier, rshift);
    case Rounding::kHalfAway:
      return ShiftRightAway(int64_t{acc} * multiplier, rshift);
    case Rounding::kHalfUp:
    case Rounding::kFloatEven:  // not integer: IsIntegerRounding
    case Rounding::kFloatZeroEven:
    case Rounding::kHalfFloat:
    case Rounding::kDoubleAway:
      break;
  }
  return MultiplyShift(acc, multiplier, rshift);
}

inline constexpr RoundingWords WordsOf(Rounding rounding) {
  return kRoundingWords[static_cast<size_t>(rounding)];
}

inline constexpr bool IsIntegerRounding(Rounding rounding) {
  return WordsOf(rounding) == RoundingWords::kFactor;
}

// Do the two words stay integers, or the halves of a double; else they are floats.
inline constexpr bool KeepsWords(Rounding rounding) {
  switch (WordsOf(rounding)) {
    case RoundingWords::kFactor:
    case RoundingWords::kDouble:
      return true;
    case RoundingWords::kScale:
    case RoundingWords::kScaleAndBias:
      break;
  }
  return false;
}

// An accumulator by its two words under any rounding but kHalfFloat (half_float.h); without
// post-operations (post_ops.h).
inline constexpr int32_t RequantizeBy(Rounding rounding, int32_t acc, int32_t multiplier,
                                      int32_t rshift, int32_t zero_y, int32_t lo, int32_t hi) {
  switch (rounding) {
    case Rounding::kFloatEven:
      return RequantizeFloatEven(acc, WordToFloat(multiplier), zero_y, lo, hi);
    case Rounding::kFloatZeroEven:
      return RequantizeFloatZeroEven(acc, WordToFloat(rshift), WordToFloat(multiplier), zero_y, lo,
                                     hi);
    case Rounding::kDoubleAway:
      return Clamp(ScaleDouble(acc, WordsToDouble(multiplier, rshift)) + zero_y, lo, hi);
    case Rounding::kHalfUp:
    case Rounding::kTwoStep:
    case Rounding::kTwoStepUp:
    case Rounding::kHalfAway:
    case Rounding::kHalfFloat:
      break;
  }
  return Clamp(ScaleInteger(rounding, acc, multiplier, rshift) + zero_y, lo, hi);
}

// v * Multiplier / 2^rshift of the difference v = x - zero_x; multiplier 0 stands for the factor 1.
inline constexpr int64_t Rescale(int32_t v, int32_t multiplier, int32_t rshift) {
  return multiplier == 0 ? v : MultiplyShift(v, multiplier, rshift);
}

// One 8-bit value from its own scale and zero point to another's, or a clip on its own (multiplier
// 0).
inline constexpr int32_t RequantizeByte(Rounding rounding, int32_t x, int32_t zero_x,
                                        int32_t multiplier, int32_t rshift, int32_t zero_y,
                                        int32_t lo, int32_t hi) {
  const int32_t v = x - zero_x;
  if (multiplier == 0) return Clamp(int64_t{v} + zero_y, lo, hi);
  return RequantizeBy(rounding, v, multiplier, rshift, zero_y, lo, hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_REQUANTIZE_H_
