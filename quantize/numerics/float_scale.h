// Requantization by a binary32 scale, ties to even. NUMERICS.md section 3. Sources: ONNX Runtime's
// requantization of int32 accumulators and XNNPACK's on x86 (zero point after the rounding);
// oneDNN's (zero point before it).
#ifndef RSHIFT_QUANTIZE_NUMERICS_FLOAT_SCALE_H_
#define RSHIFT_QUANTIZE_NUMERICS_FLOAT_SCALE_H_

#include <bit>
#include <cstdint>

#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// float(acc) rounds to even beyond 24 bits; one product; clamp to the integers [lo - zero_y, hi -
// zero_y]; to even; + zero_y. scale finite, >= 0.
inline constexpr int32_t RequantizeFloatEven(int32_t acc, float scale, int32_t zero_y, int32_t lo,
                                             int32_t hi) {
  return RoundToByte(static_cast<float>(acc) * scale, zero_y, lo, hi);
}

// The value before post-operations: (float(acc) + bias_f) * scale, each operation rounded.
inline constexpr float ScaledAccumulator(int32_t acc, float bias_f, float scale) {
  const float sum = static_cast<float>(acc) + bias_f;
  return sum * scale;
}

// f + float(zero_y), clamped to [lo, hi], to even. NaN gives zero_y, clamped.
inline constexpr int32_t RoundWithZero(float f, int32_t zero_y, int32_t lo, int32_t hi) {
  if (f != f) return zero_y < lo ? lo : zero_y > hi ? hi : zero_y;
  return RoundToByte(f + static_cast<float>(zero_y), 0, lo, hi);
}

inline constexpr int32_t RequantizeFloatZeroEven(int32_t acc, float bias_f, float scale,
                                                 int32_t zero_y, int32_t lo, int32_t hi) {
  return RoundWithZero(ScaledAccumulator(acc, bias_f, scale), zero_y, lo, hi);
}

// The f32 that a word of a requantization record holds.
inline constexpr float WordToFloat(int32_t word) { return std::bit_cast<float>(word); }
inline constexpr int32_t FloatToWord(float value) { return std::bit_cast<int32_t>(value); }

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_FLOAT_SCALE_H_
