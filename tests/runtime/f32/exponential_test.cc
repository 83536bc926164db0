// exp of eight and more floats against std::exp in double. The other instruction sets give the same
// bytes: softmax_test.cc.
#include "runtime/f32/exponential.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace rshift::f32 {
namespace {

// |exp(x) - exact| in units in the last place of the exact value, a denormal's being the least.
double ErrorInUlp(float x, float got) {
  const double exact = std::exp(static_cast<double>(x));
  return std::fabs(got - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}

TEST(ExponentialTest, WithinOneUlpFromZeroDownToNothing) {
  std::vector<float> x;
  const auto last = std::bit_cast<uint32_t>(-110.0f);
  for (uint32_t bits = std::bit_cast<uint32_t>(-0.0f); bits <= last; bits += 997) {
    x.push_back(std::bit_cast<float>(bits));
  }
  std::vector<float> y(x.size());
  Exponentials(x.data(), y.data(), static_cast<int64_t>(x.size()));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, ErrorInUlp(x[i], y[i]));
  EXPECT_LE(worst, 1.0);
  EXPECT_GT(x.size(), 1000000u);
}

// Where n changes, and where results become denormal and nothing.
TEST(ExponentialTest, WithinOneUlpBesideEveryStep) {
  for (int half = 0; half <= 301; ++half) {
    const auto middle = static_cast<float>(-half * 0.5 * std::log(2.0));
    std::vector<float> x(41), y(41);
    for (int i = 0; i < 41; ++i) {
      x[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(middle) + (half > 0 ? i - 20 : 0));
    }
    Exponentials(x.data(), y.data(), 41);
    for (int i = 0; i < 41; ++i) ASSERT_LE(ErrorInUlp(x[i], y[i]), 1.0) << x[i];
  }
}

TEST(ExponentialTest, Ends) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0f, -0.0f, -1e-45f, -kInfinity, -1e30f, -3e38f, -104.0f, -200.0f};
  std::vector<float> y(x.size());
  Exponentials(x.data(), y.data(), static_cast<int64_t>(x.size()));
  EXPECT_EQ(y, (std::vector<float>{1, 1, 1, 0, 0, 0, 0, 0}));
  float nan[2] = {NAN, -NAN};
  Exponentials(nan, nan, 2);
  EXPECT_TRUE(std::isnan(nan[0]) && std::isnan(nan[1]));
}

// Any number, in place and not; what follows is left alone.
TEST(ExponentialTest, EveryLength) {
  for (int64_t n = 1; n <= 70; ++n) {
    std::vector<float> x(n + 1), y(n + 1, 7.0f);
    for (int64_t i = 0; i <= n; ++i) x[i] = -0.3f * static_cast<float>(i);
    Exponentials(x.data(), y.data(), n);
    EXPECT_EQ(y[n], 7.0f);
    for (int64_t i = 0; i < n; ++i) ASSERT_LE(ErrorInUlp(x[i], y[i]), 1.0);
    Exponentials(x.data(), x.data(), n);
    y[n] = x[n];
    EXPECT_EQ(x, y);
  }
}

}  // namespace
}  // namespace rshift::f32
