// Sums of squares and their roots (ReduceSumSquare, ReduceL2), of bytes and of 16 bits. NUMERICS.md
// section 6.2.
#ifndef RSHIFT_QUANTIZE_NUMERICS_SQUARES_H_
#define RSHIFT_QUANTIZE_NUMERICS_SQUARES_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/normalize.h"

namespace rshift::numerics {

// Elements of a sum, at most: a sum of squares of s16 is then at most 2^50.
inline constexpr int64_t kMostSquares = int64_t{1} << 20;
// Bits of a multiplier: with fewer of them the shift reaches sums of so many elements.
inline constexpr int32_t kSquaresMultiplierBits = 24;

// Of Sx^2 / Sy for sums, Sx / Sy for roots, each correctly rounded to 24 bits. From 2^24 on every
// sum but 0 saturates; below 2^-39 all of them round to 0: {0, 0}.
inline constexpr RequantWords SquaresWords(double ratio) {
  if (ratio >= 0x1p24) return {(1 << kSquaresMultiplierBits) - 1, 0};
  const RequantWords words = QuantizeMultiplier(ratio, kSquaresMultiplierBits + 1);
  if (words.rshift < 0) return {(1 << kSquaresMultiplierBits) - 1, 0};
  return words;
}

// floor(squares M / 2^rshift + 1/2); squares in [0, 2^50], M < 2^24.
inline constexpr int64_t ScaleSquares(int64_t squares, const RequantWords& words) {
  __extension__ using Wide = __int128;
  const Wide half = words.rshift == 0 ? 0 : Wide{1} << (words.rshift - 1);
  const Wide scaled = (Wide{squares} * words.multiplier + half) >> words.rshift;
  return static_cast<int64_t>(std::min<Wide>(scaled, INT64_MAX / 2));
}

// floor(r M / 2^rshift + 1/2), r the root of squares cut off behind its 31st bit.
inline int64_t ScaleRoot(int64_t squares, const RequantWords& words) {
  if (squares == 0) return 0;
  const auto v = static_cast<uint64_t>(squares);
  const int32_t doublings = (std::countl_zero(v) - 2) / 2;  // v 4^doublings is in [2^60, 2^62)
  const auto root = static_cast<int64_t>(SquareRoot(v << (2 * doublings)));  // below 2^31
  // The product is below 2^55: from a shift of 56 on it rounds to 0.
  return ShiftRightRounded(root * words.multiplier, std::min(words.rshift + doublings, 62));
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_SQUARES_H_
