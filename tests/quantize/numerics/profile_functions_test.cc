// The functions behind tables and records, against libm.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <random>

#include "isa/attributes.h"
#include "quantize/numerics/double_scale.h"
#include "quantize/numerics/fixed_exp.h"
#include "quantize/numerics/logarithm.h"
#include "quantize/numerics/logistic.h"
#include "quantize/numerics/onnxruntime.h"
#include "quantize/numerics/tflite.h"
#include "quantize/numerics/tflite_unary.h"
#include "quantize/numerics/xnnpack.h"

namespace rshift::numerics {
namespace {

TEST(LogarithmTest, IsTheRealFunction) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-700, 700);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::exp(exponent(random));
    const double wanted = std::log(x);
    ASSERT_NEAR(Ln(x), wanted, 4e-16 * std::max(1.0, std::fabs(wanted))) << x;
  }
  EXPECT_EQ(Ln(1.0), 0.0);
  EXPECT_NEAR(Ln(static_cast<double>(FLT_MAX)), 88.72283905206835, 1e-13);
}

TEST(FixedExpTest, IsWithinTwoToTheMinusTwentyTwo) {
  EXPECT_EQ(FixedExp(0), INT32_MAX);
  double worst = 0;
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any(INT32_MIN + 1, -1);
  for (int i = 0; i < 500000; ++i) {
    const int32_t a = i < 250000 ? -i * 64 - 1 : any(random);
    const double wanted = std::exp(std::ldexp(a, -26));
    worst = std::max(worst, std::fabs(std::ldexp(FixedExp(a), -31) - wanted));
  }
  EXPECT_LT(worst, std::ldexp(1.0, -22));
}

TEST(FixedExpTest, TheSoftmaxTableEndsWhereItsArgumentLeavesFiveBits) {
  for (float scale : {1e-30f, 1e-8f, 0.0001f, 0.05f, 0.1f, 0.5f, 1.0f, 7.0f}) {
    const auto table = FixedSoftmaxTable(scale);
    EXPECT_EQ(table[0], INT32_MAX);
    for (int d = 1; d < 256; ++d) {
      const double x = static_cast<double>(scale) * d;
      if (x > 31) {
        EXPECT_LE(table[static_cast<size_t>(d)], 1) << scale << " " << d;
      } else {
        EXPECT_NEAR(std::ldexp(table[static_cast<size_t>(d)], -31), std::exp(-x),
                    scale < 1.4e-8f ? 4e-6 : 2.5e-7);
      }
    }
  }
}

TEST(DoubleScaleTest, RoundsHalfAwayAndSaturates) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any(INT32_MIN, INT32_MAX);
  for (double scale : {0.5, 0.25, 1.0 / 3, 1e-9, 0.0123, 1.0}) {
    for (int i = 0; i < 100000; ++i) {
      const int32_t acc = any(random);
      ASSERT_EQ(ScaleDouble(acc, scale), std::llround(static_cast<double>(acc) * scale));
    }
    EXPECT_EQ(WordsToDouble(UpperWord(scale), LowerWord(scale)), scale);
  }
  EXPECT_EQ(ScaleDouble(1, 0.5), 1);
  EXPECT_EQ(ScaleDouble(-1, 0.5), -1);
  EXPECT_EQ(ScaleDouble(INT32_MAX, 1e300), int64_t{1} << 31);
  EXPECT_EQ(ScaleDouble(INT32_MIN, 1e300), -(int64_t{1} << 31));
}

TEST(TwoStepTest, TheTailOfAVectorIsTwoStep) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any(-1000000, 1000000), word(1 << 30, INT32_MAX);
  int64_t different = 0;
  for (int rshift = 31; rshift <= 62; ++rshift) {
    for (int i = 0; i < 5000; ++i) {
      const int32_t acc = any(random), m = word(random);
      ASSERT_EQ(MultiplyTwoStepUp(acc, m, rshift + kScalarRemainder),
                MultiplyTwoStep(acc, m, rshift));
      different += MultiplyTwoStepUp(acc, m, rshift) != MultiplyTwoStep(acc, m, rshift) ? 1 : 0;
    }
  }
  EXPECT_GT(different, 0);
  EXPECT_EQ(MultiplyTwoStepUp(-3, 1 << 30, 31), -1);  // -1.5 rounded up once
  EXPECT_EQ(MultiplyTwoStepUp(-6, 1 << 30, 32), -1);  // -3, then -1.5 up
  EXPECT_EQ(MultiplyTwoStep(-6, 1 << 30, 32), -2);    // -3, then -1.5 away
}

TEST(LogisticTest, IsWithinItsError) {
  for (int i = -200000; i <= 200000; ++i) {
    const float x = static_cast<float>(i) * 1e-4f;
    const double wanted = 1 / (1 + std::exp(-static_cast<double>(x)));
    ASSERT_NEAR(static_cast<double>(TfLiteLogistic(x)), wanted, 6e-8 * 2);
    ASSERT_NEAR(static_cast<double>(OrtLogistic(x)), wanted, std::ldexp(1.0, -22));
  }
  EXPECT_EQ(OrtLogistic(0.0f), 0.5f);
  EXPECT_GE(OrtLogistic(-1e30f), 0.0f);
  EXPECT_LE(OrtLogistic(1e30f), 1.0f);
}

TEST(OrtSoftmaxTest, ItsSumStaysFinite) {
  for (float scale : {1e-6f, 0.05f, 1.0f, 100.0f}) {
    for (int64_t n : {1, 10, 1000, 1000000}) {
      const auto table = OrtSoftmaxTable(scale, n);
      EXPECT_LT(static_cast<double>(table[0]) * static_cast<double>(n),
                static_cast<double>(FLT_MAX));
      for (size_t d = 1; d < 256 && table[d] >= FLT_MIN; ++d) {
        const double ratio = static_cast<double>(table[d]) / static_cast<double>(table[0]);
        const double wanted = std::exp(-static_cast<double>(scale) * static_cast<double>(d));
        ASSERT_NEAR(ratio, wanted, 2e-7 * wanted);
      }
    }
  }
}

TEST(XnnpackAddTest, TheSumFitsInt32) {
  for (float a : {0.001f, 0.3f, 1.0f, 200.0f}) {
    for (float b : {0.001f, 0.3f, 1.0f, 200.0f}) {
      const XnnpackAddFactors f = XnnpackAdd(a, b, 1.0f);
      ASSERT_TRUE(f.ok);
      const int64_t largest = std::max(f.multiplier_a, f.multiplier_b);
      EXPECT_GE(largest, 1 << 20);
      EXPECT_LE(largest, 1 << 21);
      const int64_t sum = 255 * int64_t{f.multiplier_a} + 255 * int64_t{f.multiplier_b};
      EXPECT_LT(sum + (int64_t{1} << (f.shift - 1)), int64_t{1} << 31);
    }
  }
  EXPECT_FALSE(XnnpackAdd(256.0f, 1.0f, 1.0f).ok);
  EXPECT_FALSE(XnnpackAdd(1.0f, 0.0009f, 1.0f).ok);
}

TEST(TfLiteMeanTest, TheDividedMultiplierKeepsItsBits) {
  for (int64_t n = 1; n <= 70000; n += n < 300 ? 1 : 977) {
    for (float scale : {0.001f, 0.4f, 1.0f, 300.0f}) {
      const RequantWords m = TfLiteReferenceMean(scale, 1.0f, n);
      ASSERT_GT(m.multiplier, 1 << 29);
      ASSERT_LE(m.rshift, 62);
      const double got = std::ldexp(m.multiplier, -m.rshift);
      const double wanted = static_cast<double>(scale) / static_cast<double>(n);
      ASSERT_NEAR(got, wanted, wanted * std::ldexp(1.0, -28));
    }
  }
}

// What LiteRT 2.3.0 gives, Z_x and Z_y taken off.
TEST(TfLiteUnaryTest, GivesTheNumbersOfLiteRt) {
  const int32_t swish[][2] = {{-100, 0}, {-59, -1}, {-31, -9}, {-7, -4},
                              {1, 1},    {30, 28},  {60, 75}};
  for (const auto& [v, y] : swish) EXPECT_EQ(TfLiteHardSwish(v, 0.05f, 0.04f), y) << v;
  const int32_t abs[][2] = {{-59, 98}, {-31, 52}, {-7, 12}, {1, 2}, {30, 50}, {60, 100}};
  for (const auto& [v, y] : abs) EXPECT_EQ(TfLiteAbs(v, 0.05f, 0.03f), y) << v;
  const int32_t roots[][2] = {{0, 0}, {1, 11}, {28, 59}, {128, 126}, {178, 149}, {255, 178}};
  for (const auto& [v, y] : roots) EXPECT_EQ(TfLiteSqrt(v, 0.05f, 0.02f), y) << v;
}

TEST(TfLiteUnaryTest, HardSwishIsWithinTwoStepsOfTheFunction) {
  for (float sx : {0.001f, 0.02f, 0.05f, 0.2f}) {
    const float sy = 255 * sx / 255;
    for (int32_t v = -255; v <= 255; ++v) {
      const double x = v * static_cast<double>(sx);
      const double wanted = x * std::min(std::max(x + 3, 0.0), 6.0) / 6 / static_cast<double>(sy);
      EXPECT_NEAR(TfLiteHardSwish(v, sx, sy), wanted, 2) << sx << " " << v;
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
