// A row divided by its length, as LiteRT computes it from bytes. NUMERICS.md section 13.9. Source:
// the public definitions of LiteRT's L2_NORMALIZATION and of gemmlowp's fixed-point numbers.
#ifndef RSHIFT_QUANTIZE_NUMERICS_L2_NORMALIZE_H_
#define RSHIFT_QUANTIZE_NUMERICS_L2_NORMALIZE_H_

#include <bit>
#include <cstdint>

#include "quantize/numerics/requantize.h"
#include "quantize/numerics/two_step.h"

namespace rshift::numerics {

// n 255^2 stays below 2^31.
inline constexpr int64_t kMostL2Normalized = 33025;
// Results are in units of 2^-7.
inline constexpr int kL2NormalizedBits = 7;

// v / sqrt(squares) is MultiplyTwoStep(v, multiplier, rshift); rshift in [31, 43].
struct InverseLength {
  int32_t multiplier = INT32_MAX, rshift = 31;
};

// squares: from 0 on. A row of zeros, or of one number of length 1, is divided by 1.
inline constexpr InverseLength InverseLengthOf(int32_t squares) {
  if (squares <= 1) return {};
  // Squares times 4^pairs in [2^27, 2^29), which is 1/4 to 1 in 2^-29.
  int32_t right = 11;
  while (squares >= 1 << 29) squares /= 4, ++right;
  const int32_t zeros = std::countl_zero(static_cast<uint32_t>(squares)) - 1;
  const int32_t pairs = zeros / 2 - 1;
  right -= pairs;
  const int32_t x = (squares << (2 * pairs)) >> 1;  // in 2^-28, of 3 integer bits
  const int32_t half = RoundingDivideByPot(x, 1);
  constexpr int32_t kOne = 1 << 28, kThreeHalves = 3 << 27, kRootOfHalf = 1518500250;  // 2^-31
  const auto times = [](int32_t a, int32_t b) { return SaturatingRoundingDoublingHighMul(a, b); };
  // v 2^bits, saturated.
  const auto raised = [](int32_t v, int bits) {
    return static_cast<int32_t>(Clamp(int64_t{v} * (int64_t{1} << bits), INT32_MIN, INT32_MAX));
  };
  int32_t inverse = kOne;  // y = y (3 - x y^2) / 2 five times
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = raised(times(times(inverse, inverse), inverse), 6);
    inverse = raised(times(kThreeHalves, inverse) - times(half, cube), 3);
  }
  inverse = times(inverse, kRootOfHalf);
  if (right < 0) return {ShiftLeftModulo(inverse, -right), 31};
  return {inverse, 31 + right};
}

// v = q - Z_x, of s8; the result lies in [-128, 127].
inline constexpr int32_t L2Normalized(int32_t v, const InverseLength& by) {
  return Clamp(MultiplyTwoStep(v, by.multiplier, by.rshift - kL2NormalizedBits), -128, 127);
}
// Of u8, whose zero point is 128; the result lies in [0, 255].
inline constexpr int32_t L2NormalizedU8(int32_t v, const InverseLength& by) {
  return Clamp(MultiplyTwoStep(v << kL2NormalizedBits, by.multiplier, by.rshift) + 128, 0, 255);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_L2_NORMALIZE_H_
