#include "quantize/numerics/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rshift::numerics {
namespace {

constexpr double kBound = 0x1p-50;

double RelativeError(double value, long double exact) {
  if (exact == 0) return value == 0 ? 0 : 1;
  return static_cast<double>(std::fabs((static_cast<long double>(value) - exact) / exact));
}

TEST(Elementary, ExpWithinTwoToTheMinusFifty) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 400000; ++i) {
    const double range = i % 3 == 0 ? 708 : i % 3 == 1 ? 20 : 0.5;
    const double x = std::uniform_real_distribution<double>(-range, range)(random);
    ASSERT_LT(RelativeError(Exp(x), std::exp(static_cast<long double>(x))), kBound) << x;
  }
}

TEST(Elementary, Expm1AndTanhKeepTheirDigitsAroundZero) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 400000; ++i) {
    const int exponent = static_cast<int>(random() % 40) - 35;
    const double x = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), exponent);
    const auto exact = static_cast<long double>(x);
    ASSERT_LT(RelativeError(Expm1(x), std::expm1(exact)), 2 * kBound) << x;
    ASSERT_LT(RelativeError(Tanh(x), std::tanh(exact)), 2 * kBound) << x;
  }
}

TEST(Elementary, LogisticWithinTwoToTheMinusFifty) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 400000; ++i) {
    const double x = std::uniform_real_distribution<double>(-100, 100)(random);
    const long double exact = 1 / (1 + std::exp(-static_cast<long double>(x)));
    ASSERT_LT(RelativeError(Logistic(x), exact), kBound) << x;
  }
}

// What the post-operations use: the nearest float of the exact value.
TEST(Elementary, FloatsAreTheNearest) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 1000000; ++i) {
    const float x = std::uniform_real_distribution<float>(-12, 12)(random);
    const auto exact = static_cast<long double>(x);
    ASSERT_EQ(static_cast<float>(Tanh(x)), static_cast<float>(std::tanh(exact))) << x;
    ASSERT_EQ(static_cast<float>(Expm1(x)), static_cast<float>(std::expm1(exact))) << x;
    ASSERT_EQ(static_cast<float>(Logistic(x)), static_cast<float>(1 / (1 + std::exp(-exact)))) << x;
  }
}

TEST(Elementary, Ends) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Exp(0), 1);
  EXPECT_EQ(Exp(kInfinity), kInfinity);
  EXPECT_EQ(Exp(709.79), kInfinity);
  EXPECT_LT(Exp(709.78), kInfinity);
  EXPECT_EQ(Exp(-kInfinity), 0);
  EXPECT_EQ(Exp(-708.5), 0);
  EXPECT_GT(Exp(-708), 0);
  EXPECT_EQ(Tanh(kInfinity), 1);
  EXPECT_EQ(Tanh(-30), -1);
  EXPECT_EQ(Tanh(0), 0);
  EXPECT_EQ(Expm1(-kInfinity), -1);
  EXPECT_EQ(Logistic(-kInfinity), 0);
  EXPECT_EQ(Logistic(kInfinity), 1);
  EXPECT_EQ(Logistic(0), 0.5);
  EXPECT_TRUE(std::isnan(Exp(std::nan(""))));
  EXPECT_TRUE(std::isnan(Tanh(std::nan(""))));
  EXPECT_TRUE(std::isnan(Logistic(std::nan(""))));
}

}  // namespace
}  // namespace rshift::numerics
