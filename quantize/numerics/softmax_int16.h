// Softmax of s16 as TFLite computes it: e to the difference to the row's greatest, and the
// reciprocal of their sum, both from tables of 513 numbers with straight lines between them.
// NUMERICS.md section 30.
#ifndef RSHIFT_QUANTIZE_NUMERICS_SOFTMAX_INT16_H_
#define RSHIFT_QUANTIZE_NUMERICS_SOFTMAX_INT16_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/two_step.h"

namespace rshift::numerics {

// Numbers of one table: for x = -32768 + 128 i.
inline constexpr int32_t kSoftmaxInt16Entries = 513;
// Elements of a row: their sum fits 31 bits.
inline constexpr int64_t kMostSoftmaxInt16 = 65535;
// The least entry of exp around 0: sums are then at least 2.
inline constexpr int32_t kLeastSoftmaxInt16One = 2;

// Between the two entries around x.
inline constexpr int32_t LookUpInt16(const int16_t* table, int32_t x) {
  const int32_t i = (x + 32768) >> 7, part = (x + 32768) & 127;
  return table[i] + (((table[i + 1] - table[i]) * part + 64) >> 7);
}

// exp of x - max, in 2^-15. words: two steps, to units of 10 / 65535.
inline constexpr int32_t SoftmaxInt16Exp(int32_t x, int32_t max, RequantWords words,
                                         const int16_t* exponentials) {
  const int64_t d = MultiplyTwoStep(x - max, words.multiplier, words.rshift);
  return LookUpInt16(exponentials,
                     static_cast<int32_t>(std::clamp<int64_t>(d + 32767, -32768, 32767)));
}

// 1 / sum as factor / 2^shift. 2 <= sum < 2^31.
struct SoftmaxInt16Inverse {
  int32_t factor = 0, shift = 1;
};
inline constexpr SoftmaxInt16Inverse InvertSoftmaxInt16(int32_t sum, const int16_t* reciprocals) {
  const int32_t zeros = std::countl_zero(static_cast<uint32_t>(sum));  // 1 .. 30
  // The sum as 1 + x, x in 2^-16.
  const int64_t normal = ((int64_t{sum} << (zeros - 1)) + (1 << 13)) >> 14;
  const int64_t x = std::clamp<int64_t>(normal - (1 << 16) - (1 << 15), -32768, 32767);
  return {LookUpInt16(reciprocals, static_cast<int32_t>(x)), 31 - zeros};
}

inline constexpr int32_t SoftmaxInt16Quotient(int32_t exponential, SoftmaxInt16Inverse inverse) {
  const int64_t half = int64_t{1} << (inverse.shift - 1);
  const int64_t y = (int64_t{exponential} * inverse.factor + half) >> inverse.shift;
  return static_cast<int32_t>(std::clamp<int64_t>(y, 0, 32767));
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_SOFTMAX_INT16_H_
