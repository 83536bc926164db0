// What AscendDequant and AscendQuant are told. The arithmetic itself is half_float.h. NUMERICS.md,
// profile ascend. Source: the CANN documentation of both operators.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ASCEND_H_
#define RSHIFT_QUANTIZE_NUMERICS_ASCEND_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "base/half.h"

namespace rshift::numerics {

// A word of the deq_scale tensor: bits 0..31 the f32 scale, 32..39 a shift (0 where the output is
// fp16), 40..47 the weight offset as s8 (0: symmetric weights), 48..63 zero.
struct AscendDeqScale {
  float scale = 1.0f;
  uint8_t shift = 0;
  int8_t offset_w = 0;
  friend constexpr bool operator==(const AscendDeqScale&, const AscendDeqScale&) = default;
};

inline constexpr uint64_t PackAscendDeqScale(const AscendDeqScale& word) {
  return uint64_t{std::bit_cast<uint32_t>(word.scale)} | uint64_t{word.shift} << 32 |
         uint64_t{static_cast<uint8_t>(word.offset_w)} << 40;
}

// An attribute as the operator applies it. sqrt_mode: `value` is the square root and is multiplied
// with twice; chosen where the number itself leaves binary16's normal range [2^-14, 65504].
struct AscendScale {
  float value = 1.0f;
  bool sqrt_mode = false;
  friend constexpr bool operator==(const AscendScale&, const AscendScale&) = default;
};

inline constexpr float kHalfMin = 0x1p-14f, kHalfMax = 65504.0f;

// Throws kInvalidInput where even the square root leaves binary16: outside [2^-28, 65504^2].
inline AscendScale MakeAscendScale(float scale) {
  if (scale >= kHalfMin && scale <= kHalfMax) return {scale, false};
  const float root = std::sqrt(scale);  // correctly rounded
  if (!(root >= kHalfMin && root <= kHalfMax)) {
    Fail(ErrorCode::kInvalidInput, "Ascend: scale ", scale,
         " is outside [2^-28, 2^32) and has no sqrt_mode form; check the ranges of its tensors");
  }
  return {root, true};
}

// The attribute held in fp16 instead of fp32: rounded to the nearest half before it is applied.
inline float AttributeInHalf(float value) { return HalfToFloat(FloatToHalf(value)); }

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ASCEND_H_
