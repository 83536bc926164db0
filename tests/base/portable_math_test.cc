// Against the C library in long double, over random arguments; and what C's pow says of special
// ones.
#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rshift {
namespace {

using Function = double (*)(double);
using Reference = long double (*)(long double);

struct Arguments {
  double low = 0, high = 0;
  bool exponents = false;  // low and high are those of 2
};

double Argument(const Arguments& range, std::mt19937_64& random) {
  const double share = static_cast<double>(random() >> 11) * 0x1p-53;
  const double u = range.low + (range.high - range.low) * share;
  const double x =
      range.exponents ? std::ldexp(1.0 + u - std::floor(u), static_cast<int>(std::floor(u))) : u;
  return static_cast<float>(x);
}

void CheckFunction(const char* name, Function function, Reference reference, const Arguments& range,
                   double tolerance = 0x1p-50) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double x = Argument(range, random);
    const long double want = reference(x);
    const double got = function(x);
    if (std::isnan(got) && std::isnan(want)) continue;
    ASSERT_LE(std::fabs(got - want), tolerance * std::fabs(want)) << name << "(" << x << ")";
  }
}
#define CHECK_FUNCTION(name, reference, ...) \
  CheckFunction(                             \
      #name, portable::name, [](long double x) { return reference(x); }, __VA_ARGS__)

TEST(PortableMathTest, ExponentialsAndLogarithms) {
  CHECK_FUNCTION(Exp, std::exp, {-700, 700});
  CHECK_FUNCTION(Expm1, std::expm1, {-20, 20});
  CHECK_FUNCTION(Tanh, std::tanh, {-10, 10});
  CHECK_FUNCTION(Log, std::log, {-149, 128, true});
  CHECK_FUNCTION(Log, std::log, {0.5, 2});
  CHECK_FUNCTION(Log1p, std::log1p, {-0.999, 5});
  CHECK_FUNCTION(Log2, std::log2, {-149, 128, true});
  CHECK_FUNCTION(Log10, std::log10, {-149, 128, true});
  CHECK_FUNCTION(Sinh, std::sinh, {-80, 80});
  CHECK_FUNCTION(Sinh, std::sinh, {-1, 1});
  CHECK_FUNCTION(Cosh, std::cosh, {-80, 80});
  CHECK_FUNCTION(Asinh, std::asinh, {-10, 10});
  CHECK_FUNCTION(Asinh, std::asinh, {-40, 127, true});
  CHECK_FUNCTION(Acosh, std::acosh, {1, 10});
  CHECK_FUNCTION(Acosh, std::acosh, {0, 127, true});
  CHECK_FUNCTION(Atanh, std::atanh, {-1, 1});
  CHECK_FUNCTION(Erf, std::erf, {-7, 7}, 0x1p-48);
}

TEST(PortableMathTest, Angles) {
  for (const Arguments& range : {Arguments{-10, 10}, Arguments{-60, 128, true}}) {
    CHECK_FUNCTION(Sin, std::sin, range);
    CHECK_FUNCTION(Cos, std::cos, range);
    CHECK_FUNCTION(Tan, std::tan, range);
    CHECK_FUNCTION(Atan, std::atan, range);
  }
  CHECK_FUNCTION(Asin, std::asin, {-1, 1});
  CHECK_FUNCTION(Acos, std::acos, {-1, 1});
  // The float whose sine is the smallest of all.
  EXPECT_NEAR(portable::Sin(16367173.0 * 0x1p72), std::sin(16367173.0L * 0x1p72L), 1e-22);
}

TEST(PortableMathTest, WhatIsNotANumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Function f : {portable::Log, portable::Log1p, portable::Log2, portable::Log10,
                           portable::Erf, portable::Sinh, portable::Cosh, portable::Asinh,
                           portable::Acosh, portable::Atanh, portable::Sin, portable::Cos,
                           portable::Tan, portable::Asin, portable::Acos, portable::Atan})
    EXPECT_TRUE(std::isnan(f(std::nan(""))));
  EXPECT_EQ(portable::Log(0.0), -kInfinity);
  EXPECT_TRUE(std::isnan(portable::Log(-1.0)));
  EXPECT_EQ(portable::Log(kInfinity), kInfinity);
  EXPECT_EQ(portable::Log2(8.0), 3.0);
  EXPECT_EQ(portable::Erf(kInfinity), 1.0);
  EXPECT_EQ(portable::Atanh(1.0), kInfinity);
  EXPECT_TRUE(std::isnan(portable::Atanh(1.5)));
  EXPECT_TRUE(std::isnan(portable::Acosh(0.5)));
  EXPECT_TRUE(std::isnan(portable::Asin(1.5)));
  EXPECT_TRUE(std::isnan(portable::Sin(kInfinity)));
  EXPECT_EQ(portable::Sinh(-kInfinity), -kInfinity);
  EXPECT_EQ(portable::Cosh(-kInfinity), kInfinity);
  EXPECT_EQ(portable::Asinh(-kInfinity), -kInfinity);
}

TEST(PortableMathTest, PowersAreThoseOfC) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {0.0, -0.0, 1.0,       -1.0,       2.0,          -2.0, 0.5,
                           3.0, -3.0, kInfinity, -kInfinity, std::nan(""), 1e300};
  for (const double x : values) {
    for (const double y : values) {
      SCOPED_TRACE(::testing::Message() << x << "^" << y);
      const double got = portable::Pow(x, y), want = std::pow(x, y);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got));
        continue;
      }
      EXPECT_EQ(std::signbit(got), std::signbit(want));
      if (std::isinf(want)) {
        EXPECT_EQ(got, want);
      } else {
        EXPECT_NEAR(got, want, 0x1p-42 * std::fabs(want));
      }
    }
  }
  for (const double x : {0.1, 1.1, 7.3, 1e20}) {  // of whole exponents: products
    EXPECT_EQ(portable::Pow(-x, 2), x * x);
    EXPECT_EQ(portable::Pow(-x, 3), -(x * x * x));
    EXPECT_EQ(portable::Pow(x, -1), 1 / x);
    EXPECT_EQ(portable::Pow(x, 0.5), std::sqrt(x));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double x = Argument({-20, 20, true}, random), y = Argument({-6, 6}, random);
    const long double want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    const double size = 1 + std::fabs(y * std::log(x));
    ASSERT_LE(std::fabs(portable::Pow(x, y) - want), size * 0x1p-50 * want) << x << "^" << y;
  }
}

}  // namespace
}  // namespace rshift
