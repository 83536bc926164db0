// Logistic and tanh of 16-bit fixed-point numbers, as LiteRT's optimised int16 kernels compute them
// at scales that need a shift alone, and its integer LSTM. NUMERICS.md sections 30 and 31. Source:
// the public definition of gemmlowp's fixed-point library for 16 bits.
#ifndef RSHIFT_QUANTIZE_NUMERICS_FIXED_INT16_H_
#define RSHIFT_QUANTIZE_NUMERICS_FIXED_INT16_H_

#include <cstdint>

#include "quantize/numerics/requantize.h"
#include "quantize/numerics/two_step.h"

namespace rshift::numerics::fixed16 {

// Qm.n has n bits of fraction, m = 15 - n. All numbers are within 16 bits; sums wrap around.
inline constexpr int32_t kOne = 32767;  // of Q0.15

inline constexpr int32_t Wrapped(int32_t v) { return static_cast<int16_t>(v); }
inline constexpr int32_t Held(int32_t v) { return Clamp(v, -32768, 32767); }

// 2 a b / 2^16, rounded with ties away from zero; -1 times -1 is kOne.
inline constexpr int32_t Product(int32_t a, int32_t b) {
  if (a == -32768 && b == -32768) return kOne;
  const int32_t product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}
// The upper half of a constant of 32 bits, to the nearest.
inline constexpr int32_t Constant(int32_t of_32_bits) {
  return RoundingDivideByPot(of_32_bits, 16);
}

// exp(a) for a in [-1/4, 0), Q0.15 both: as FixedExpOnQuarter.
inline constexpr int32_t ExpOnQuarter(int32_t a) {
  constexpr int32_t kExpOfMinusEighth = Constant(1895147668), kOneThird = Constant(715827883);
  const int32_t x = Wrapped(a + (1 << 12)), x2 = Product(x, x);
  const int32_t x3 = Product(x2, x), x4 = Product(x2, x2);
  const int32_t third = Product(Wrapped(RoundingDivideByPot(x4, 2) + x3), kOneThird);
  const int32_t tail = RoundingDivideByPot(Wrapped(third + x2), 1);
  return Held(kExpOfMinusEighth + Product(kExpOfMinusEighth, Wrapped(x + tail)));
}

// exp(a) in Q0.15 for a <= 0 of `integer_bits`, 1 to 7: as FixedExp. Powers beyond `integer_bits`
// have no bit in `rest`.
inline constexpr int32_t Exp(int32_t a, int32_t integer_bits) {
  constexpr int32_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308,
                                 39332535,   720401,     242};
  const int32_t fraction_bits = 15 - integer_bits, quarter = 1 << (fraction_bits - 2);
  const int32_t part = (a & (quarter - 1)) - quarter, rest = Wrapped(part - a);
  int32_t result = ExpOnQuarter(Held(part * (1 << integer_bits)));
  for (int32_t k = 0; k < 7; ++k) {
    const int32_t product = Product(result, Constant(kPowers[k]));
    result = (rest & (quarter << k)) != 0 ? product : result;
  }
  if (integer_bits > 5 && a < -(32 << fraction_bits)) result = 0;
  return a == 0 ? kOne : result;
}

// 2 / (1 + a) in Q2.13 for a in [0, 1) of Q0.15: three Newton-Raphson steps on half of 1 + a.
inline constexpr int32_t TwoOverOnePlus(int32_t a) {
  constexpr int32_t k48Over17 = Constant(1515870810), kMinus32Over17 = Constant(-1010580540);
  const int32_t half = (a + kOne + 1) / 2;
  int32_t x = Wrapped(k48Over17 + Product(half, kMinus32Over17));
  for (int step = 0; step < 3; ++step) {
    const int32_t rest = Wrapped((1 << 13) - Product(half, x));
    x = Wrapped(x + Held(Product(x, rest) * 4));
  }
  return x;
}

// a: Q3.12; Q0.15.
inline constexpr int32_t Logistic(int32_t a) {
  if (a == 0) return 1 << 14;
  const int32_t negative = a > 0 ? -a : a;
  const int32_t of_positive = Held(TwoOverOnePlus(Exp(negative, 3)) * 2);
  return a > 0 ? of_positive : kOne - of_positive;
}
// a: of `integer_bits`, 0 to 6; Q0.15.
inline constexpr int32_t Tanh(int32_t a, int32_t integer_bits = 3) {
  if (a == 0) return 0;
  const int32_t negative = a < 0 ? a : -a;
  // tanh(|a|) = (1 - exp(-2 |a|)) / (1 + exp(-2 |a|)); twice a Q3.12 is the same bits of Q4.11.
  const int32_t exp = Exp(negative, integer_bits + 1);
  const int32_t of_positive = Held((TwoOverOnePlus(exp) - (1 << 13)) * 4);
  return a < 0 ? -of_positive : of_positive;
}

}  // namespace rshift::numerics::fixed16

#endif  // RSHIFT_QUANTIZE_NUMERICS_FIXED_INT16_H_
