// Elementary functions in binary64 without libm: the same bits on every CPU and with every C
// library. Sums, products, quotients and square roots only, which IEEE 754 defines to the last bit.
//
// exp(x) = 2^k * exp(r), k = nearest integer of x / ln 2, r = x - k ln 2 in [-0.347, 0.347] by two
// parts of ln 2; exp(r) - 1 is the Taylor series to r^14, whose first term left out is below
// 2^-60 of r. Relative error of each function against the exact value: below 2^-50 (tested; Erf
// 2^-48, a power |y ln x| times as much), so that its binary32 is the nearest one for all but about
// one in 2^25 arguments (2^23, or a power's part of it), and within one unit in the last place for
// all. NaN gives NaN, and what is not defined, too.
#ifndef RSHIFT_BASE_PORTABLE_MATH_H_
#define RSHIFT_BASE_PORTABLE_MATH_H_

#include <bit>
#include <cstdint>
#include <limits>

namespace rshift::portable {

// exp(r) - 1 for |r| <= 0.35, relative error below 2^-51.
inline constexpr double Expm1Series(double r) {
  double sum = 1.0 / 87178291200.0;  // 1 / 14!, then Horner down to 1 / 2!
  constexpr double kFactors[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
                                 1.0 / 3628800.0,    1.0 / 362880.0,    1.0 / 40320.0,
                                 1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,
                                 1.0 / 24.0,         1.0 / 6.0,         1.0 / 2.0};
  for (const double factor : kFactors) sum = sum * r + factor;
  return r + (r * r) * sum;
}

// Overflow is +infinity; below -708 (where results would be subnormal) 0.
inline constexpr double Exp(double x) {
  constexpr double kInverseLn2 = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // ln 2 with 21 low bits cleared
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kToInteger = 6755399441055744.0;  // 1.5 * 2^52: the sum has no fraction bits
  if (x != x) return x;
  if (x > 709.782712893383996843) return std::numeric_limits<double>::infinity();
  if (x < -708.0) return 0.0;
  const double k = (x * kInverseLn2 + kToInteger) - kToInteger;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  // Half the power first: 2^1024 is no double.
  const auto exponent = static_cast<int64_t>(k) - 1 + 1023;
  const auto power = std::bit_cast<double>(static_cast<uint64_t>(exponent) << 52);
  return (1.0 + Expm1Series(r)) * power * 2.0;
}

// exp(x) - 1 without cancellation around 0.
inline constexpr double Expm1(double x) {
  if (x > -0.35 && x < 0.35) return Expm1Series(x);
  return Exp(x) - 1.0;
}

inline constexpr double Tanh(double x) {
  if (x != x) return x;
  const double magnitude = x < 0.0 ? -x : x;
  if (magnitude > 20.0) return x < 0.0 ? -1.0 : 1.0;
  const double t = Expm1(2.0 * magnitude);
  const double y = t / (t + 2.0);
  return x < 0.0 ? -y : y;
}

inline constexpr double Logistic(double x) { return 1.0 / (1.0 + Exp(-x)); }

double Log(double x);
double Log1p(double x);  // log(1 + x) without cancellation around 0
double Log2(double x);   // exact for powers of two
double Log10(double x);
// As C's pow for special values. Whole powers up to 16 are products, exact where they have 53 bits.
double Pow(double x, double y);
double Erf(double x);
double Sinh(double x);
double Cosh(double x);
double Asinh(double x);
double Acosh(double x);
double Atanh(double x);

// Of |x| < 2^128, as every float is; NaN beyond.
double Sin(double x);
double Cos(double x);
double Tan(double x);
double Asin(double x);
double Acos(double x);
double Atan(double x);

}  // namespace rshift::portable

#endif  // RSHIFT_BASE_PORTABLE_MATH_H_
