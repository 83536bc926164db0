// exp on negative fixed-point numbers, and from it the table of TFLite's reference Softmax.
// NUMERICS.md, profile tflite-ref. Source: the public definition of gemmlowp's fixed-point library.
#ifndef RSHIFT_QUANTIZE_NUMERICS_FIXED_EXP_H_
#define RSHIFT_QUANTIZE_NUMERICS_FIXED_EXP_H_

#include <array>
#include <cstdint>

#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/two_step.h"

namespace rshift::numerics {

// exp(a) for a in [-1/4, 0), Q0.31 both: the Taylor series around -1/8 to the fourth power.
inline constexpr int32_t FixedExpOnQuarter(int32_t a) {
  constexpr int32_t kExpOfMinusEighth = 1895147668, kOneThird = 715827883;
  const auto mul = SaturatingRoundingDoublingHighMul;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = mul(x, x);
  const int32_t x3 = mul(x2, x);
  const int32_t x4 = mul(x2, x2);
  // x^4/24 + x^3/6 + x^2/2 = ((x^4/4 + x^3) / 3 + x^2) / 2
  const int32_t tail = RoundingDivideByPot(mul(RoundingDivideByPot(x4, 2) + x3, kOneThird) + x2, 1);
  return kExpOfMinusEighth + mul(kExpOfMinusEighth, x + tail);
}

// exp(a) in Q0.31 for a <= 0 in Q5.26; exp(0) is INT32_MAX. a is taken apart into a part of
// [-1/4, 0) and multiples of -1/4, -1/2, ... -16, each of which is one product. Error below 2^-22
// (the series ends at the fourth power).
inline constexpr int32_t FixedExp(int32_t a) {
  if (a == 0) return INT32_MAX;
  constexpr int32_t kQuarter = 1 << 24;
  const int32_t part = (a & (kQuarter - 1)) - kQuarter;
  const int32_t rest = part - a;
  // exp(-2^k), k = -2 to 4.
  constexpr int32_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308,
                                 39332535,   720401,     242};
  int32_t result = FixedExpOnQuarter(part * 32);  // to Q0.31
  for (int k = -2; k <= 4; ++k) {
    if ((rest & (1 << (26 + k))) != 0) {
      result = SaturatingRoundingDoublingHighMul(result, kPowers[k + 2]);
    }
  }
  return result;
}

// Entry d belongs to x = max - d: exp(-d S) in Q0.31, 0 from where d S no longer fits Q5.26.
// At S below 2^-26, where TFLite's
// factor would be below 1, every entry is 1.
inline constexpr std::array<int32_t, 256> FixedSoftmaxTable(float scale_x) {
  double factor = static_cast<double>(scale_x) * 67108864.0;  // 2^26
  if (factor > 2147483647.0) factor = 2147483647.0;
  std::array<int32_t, 256> table{};
  const RequantWords m = factor < 1.0 ? RequantWords{} : QuantizeMultiplier(factor);
  const int32_t left = factor < 1.0 ? -1 : 31 - m.rshift;
  // floor(31 * 2^26 / 2^left): beyond it the shifted difference leaves Q5.26.
  const int64_t radius = left >= 0 ? (int64_t{31} << 26) >> left : 255;
  for (int32_t d = 0; d < 256; ++d) {
    if (d > radius) continue;
    const int32_t shifted = left >= 0 ? -d * (int32_t{1} << left) : 0;
    table[static_cast<size_t>(d)] =
        FixedExp(SaturatingRoundingDoublingHighMul(shifted, m.multiplier));
  }
  return table;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_FIXED_EXP_H_
