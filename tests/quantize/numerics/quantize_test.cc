#include "quantize/numerics/quantize.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

namespace rshift::numerics {
namespace {

TEST(QuantizeValueTest, RoundsTiesToEven) {
  EXPECT_EQ(QuantizeValue(0.5f, 1, 0, -128, 127), 0);
  EXPECT_EQ(QuantizeValue(1.5f, 1, 0, -128, 127), 2);
  EXPECT_EQ(QuantizeValue(2.5f, 1, 0, -128, 127), 2);
  EXPECT_EQ(QuantizeValue(-0.5f, 1, 0, -128, 127), 0);
  EXPECT_EQ(QuantizeValue(-1.5f, 1, 0, -128, 127), -2);
}

TEST(QuantizeValueTest, AddsTheZeroPointAfterRounding) {
  EXPECT_EQ(QuantizeValue(0.5f, 1, 3, -128, 127), 3);  // 0.5 -> 0, not 3.5 -> 4
  EXPECT_EQ(QuantizeValue(1.5f, 1, 3, -128, 127), 5);
}

TEST(QuantizeValueTest, SaturatesAndTreatsTheUnusual) {
  EXPECT_EQ(QuantizeValue(1e30f, 1, 5, -128, 127), 127);
  EXPECT_EQ(QuantizeValue(-1e30f, 1, 5, -128, 127), -128);
  EXPECT_EQ(QuantizeValue(INFINITY, 1, 5, -128, 127), 127);
  EXPECT_EQ(QuantizeValue(-INFINITY, 1, 5, 0, 255), 0);
  EXPECT_EQ(QuantizeValue(std::nanf(""), 1, 5, -128, 127), 5);
  EXPECT_EQ(QuantizeValue(std::nanf(""), 1, 5, 7, 127), 7);
  EXPECT_EQ(QuantizeValue(1e-45f, 1, 5, -128, 127), 5);
  EXPECT_EQ(QuantizeValue(3e38f, 1e-38f, 0, -128, 127), 127);  // the quotient overflows to infinity
  EXPECT_EQ(QuantizeValue(126.5f, 1, 0, -128, 127), 126);
  EXPECT_EQ(QuantizeValue(127.5f, 1, 0, -128, 127), 127);
  EXPECT_EQ(QuantizeValue(-128.5f, 1, 0, -128, 127), -128);
}

TEST(QuantizeValueTest, AgreesWithTheLibraryRounding) {
  ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  std::mt19937 random(4);
  std::uniform_real_distribution<float> value(-300, 300), scale(0.01f, 3);
  for (int i = 0; i < 500000; ++i) {
    const float x = value(random), s = scale(random);
    const int32_t zero = static_cast<int32_t>(random() % 256) - 128;
    const double expected = std::fmin(std::fmax(std::nearbyint(x / s) + zero, -128.0), 127.0);
    ASSERT_EQ(QuantizeValue(x, s, zero, -128, 127), expected) << x << " / " << s << " + " << zero;
  }
}

TEST(QuantizeValueTest, EveryByteComesBack) {
  for (float scale : {1.0f / 255, 0.1f, 3.7f, 1e-30f, 1e30f}) {
    for (int32_t zero : {-128, -7, 0, 127}) {
      for (int32_t q = -128; q <= 127; ++q) {
        EXPECT_EQ(QuantizeValue(DequantizeValue(q, scale, zero), scale, zero, -128, 127), q);
      }
    }
  }
}

TEST(RoundHalfEvenTest, DoubleKeepsLargeValues) {
  EXPECT_EQ(RoundHalfEven(2.5), 2.0);
  EXPECT_EQ(RoundHalfEven(-3.5), -4.0);
  EXPECT_EQ(RoundHalfEven(1e300), 1e300);
  EXPECT_EQ(RoundHalfEven(4503599627370497.0), 4503599627370497.0);
}

}  // namespace
}  // namespace rshift::numerics
