#include "base/portable_math.h"

#include <cmath>

namespace rshift::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2High = 6.93147180369123816490e-01;  // its products with exponents are exact
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInverseLn2 = 1.4426950408889634074;
constexpr double kInverseLn10 = 0.43429448190325182765;

// log((1 + s) / (1 - s)) - 2 s for |s| <= 0.172: the series of 2 atanh(s) to s^25; its next term is
// below 2^-70 of s.
double LogTail(double s) {
  const double z = s * s, w = z * z;
  // Odd and even terms apart, which wait less for each other.
  const double even =
      2.0 / 3 + w * (2.0 / 7 + w * (2.0 / 11 + w * (2.0 / 15 + w * (2.0 / 19 + w * (2.0 / 23)))));
  const double odd =
      2.0 / 5 + w * (2.0 / 9 + w * (2.0 / 13 + w * (2.0 / 17 + w * (2.0 / 21 + w * (2.0 / 25)))));
  return (even + z * odd) * z * s;
}

// x = 2^exponent (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); x > 0 and finite.
struct Parts {
  double exponent = 0, f = 0;
};
Parts Split(double x) {
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1, kOne = uint64_t{1023} << 52;
  constexpr double kRaise = 18014398509481984.0;  // 2^54, for what is subnormal
  int64_t lowered = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= kRaise;
    lowered = 54;
  }
  const auto raw = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>(raw >> 52) - 1023 - lowered;
  auto m = std::bit_cast<double>((raw & kMantissa) | kOne);
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    ++exponent;
  }
  return {static_cast<double>(exponent), m - 1.0};
}

// For what has no Parts; 1 otherwise.
double SpecialLog(double x) {
  if (x != x || x == kInfinity) return x;
  return x == 0.0 ? -kInfinity : x < 0.0 ? kNan : 1.0;
}
bool HasParts(double x) { return x > 0.0 && x < kInfinity; }

}  // namespace

double Log(double x) {
  if (!HasParts(x)) return SpecialLog(x);
  const Parts parts = Split(x);
  const double s = parts.f / (2.0 + parts.f);
  return parts.exponent * kLn2High + (2.0 * s + (LogTail(s) + parts.exponent * kLn2Low));
}

double Log1p(double x) {
  if (x > -0.29 && x < 0.41) {
    const double s = x / (2.0 + x);
    return 2.0 * s + LogTail(s);
  }
  return Log(1.0 + x);
}

double Log2(double x) {
  if (!HasParts(x)) return SpecialLog(x);
  const Parts parts = Split(x);
  const double s = parts.f / (2.0 + parts.f);
  return parts.exponent + (2.0 * s + LogTail(s)) * kInverseLn2;
}

double Log10(double x) { return Log(x) * kInverseLn10; }

namespace {

// By squaring: without rounding wherever the power is a number of 53 bits.
double WholePower(double x, int n) {
  double power = 1.0;
  for (; n != 0; n >>= 1, x *= x) {
    if (n & 1) power *= x;
  }
  return power;
}

}  // namespace

double Pow(double x, double y) {
  constexpr double kMostProducts = 16, kLargest = 1e300;
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return kNan;
  const double size = std::fabs(x);
  if (std::fabs(y) == kInfinity)
    return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? kInfinity : 0.0;
  const bool whole = y == std::floor(y);
  const bool odd = whole && std::fmod(y, 2.0) != 0.0;
  const double sign = std::signbit(x) && odd ? -1.0 : 1.0;
  if (size == 0.0) return sign * (y > 0.0 ? 0.0 : kInfinity);
  if (size == kInfinity) return sign * (y > 0.0 ? kInfinity : 0.0);
  if (x < 0.0 && !whole) return kNan;
  if (whole && std::fabs(y) <= kMostProducts) {
    const double power = WholePower(size, static_cast<int>(std::fabs(y)));
    if (power > 1 / kLargest && power < kLargest) return sign * (y > 0.0 ? power : 1.0 / power);
  }
  if (y == 0.5) return std::sqrt(size);
  return sign * Exp(y * Log(size));
}

double Erf(double x) {
  constexpr double kTwoByRootPi = 1.12837916709551257390;
  const double size = std::fabs(x);
  if (!(size < 6.0)) return x != x ? x : x < 0.0 ? -1.0 : 1.0;
  // exp(-x^2) 2 / sqrt(pi) times the sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1)): no term is below
  // 0.
  const double twice = 2.0 * size * size;
  double term = size, sum = size;
  for (int n = 3; term > sum * 1e-18; n += 2) {
    term *= twice / n;
    sum += term;
  }
  const double value = sum * kTwoByRootPi * Exp(-size * size);
  const double most = value < 1.0 ? value : 1.0;
  return x < 0.0 ? -most : most;
}

double Sinh(double x) {
  const double size = std::fabs(x);
  double value = 0.5 * Exp(size);
  if (size < 40.0) {
    const double t = Expm1(size);
    value = 0.5 * (t + t / (t + 1.0));
  }
  return x < 0.0 ? -value : value;
}

double Cosh(double x) {
  const double e = Exp(std::fabs(x));
  return 0.5 * (e + 1.0 / e);
}

double Asinh(double x) {
  const double size = std::fabs(x);
  if (size == kInfinity) return x;
  const double value = Log1p(size + size * size / (1.0 + std::sqrt(1.0 + size * size)));
  return x < 0.0 ? -value : value;
}

double Acosh(double x) {
  if (!(x >= 1.0)) return kNan;
  const double t = x - 1.0;
  return Log1p(t + std::sqrt(2.0 * t + t * t));
}

double Atanh(double x) {
  const double size = std::fabs(x);
  if (!(size <= 1.0)) return kNan;
  const double value = 0.5 * Log1p(2.0 * size / (1.0 - size));
  return x < 0.0 ? -value : value;
}

}  // namespace rshift::portable
