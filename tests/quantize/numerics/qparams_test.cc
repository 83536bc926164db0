#include "quantize/numerics/qparams.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "isa/attributes.h"

namespace rshift::numerics {
namespace {

TEST(QParamsTest, SymmetricScales) {
  EXPECT_EQ(SymmetricParams(12.8f, true).scale, 0.1f);
  EXPECT_EQ(SymmetricParams(25.5f, false).scale, 0.1f);
  EXPECT_EQ(SymmetricParams(12.8f, true).zero_point, 0);
  EXPECT_EQ(WeightScale(12.7f), 0.1f);
  EXPECT_EQ(WeightScale(0.7f, 4), 0.1f);
  EXPECT_EQ(LargestWeight(8), 127);
  EXPECT_EQ(LargestWeight(4), 7);
  EXPECT_EQ(QuantizeValue(1.0f, SymmetricParams(1.0f, true).scale, 0, -128, 127), 127);
  EXPECT_EQ(QuantizeValue(-1.0f, SymmetricParams(1.0f, true).scale, 0, -128, 127), -128);
  EXPECT_EQ(QuantizeValue(1.0f, SymmetricParams(1.0f, false).scale, 0, 0, 255), 255);
}

TEST(QParamsTest, AsymmetricWorkedExample) {
  // [-1, 3]: S = 4 / 255, Z = round(-128 + 63.75) = round(-64.25) = -64.
  const QuantParams p = AsymmetricParams(-1.0f, 3.0f);
  EXPECT_EQ(p.scale, 4.0f / 255.0f);
  EXPECT_EQ(p.zero_point, -64);
}

TEST(QParamsTest, AsymmetricRangeIsExtendedToHoldZero) {
  const QuantParams positive = AsymmetricParams(2.0f, 5.1f);
  EXPECT_EQ(positive.zero_point, -128);
  EXPECT_EQ(positive.scale, static_cast<float>(static_cast<double>(5.1f) / 255.0));
  const QuantParams negative = AsymmetricParams(-5.1f, -2.0f);
  EXPECT_EQ(negative.zero_point, 127);
}

TEST(QParamsTest, ZeroIsExactAndTheRangeIsCoveredToHalfAStep) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> value(-10, 10);
  for (int i = 0; i < 100000; ++i) {
    float low = value(random), high = value(random);
    if (low > high) std::swap(low, high);
    const QuantParams p = AsymmetricParams(low, high);
    ASSERT_GE(p.zero_point, -128);
    ASSERT_LE(p.zero_point, 127);
    ASSERT_EQ(
        DequantizeValue(QuantizeValue(0, p.scale, p.zero_point, -128, 127), p.scale, p.zero_point),
        0);
    const double half = 0.5001 * p.scale;
    ASSERT_LE(DequantizeValue(-128, p.scale, p.zero_point), std::min(low, 0.0f) + half);
    ASSERT_GE(DequantizeValue(127, p.scale, p.zero_point), std::max(high, 0.0f) - half);
  }
}

TEST(QParamsTest, ZeroAndTinyRangesHaveScaleOne) {
  EXPECT_EQ(SymmetricParams(0, true).scale, 1.0f);
  EXPECT_EQ(SymmetricParams(0, false).scale, 1.0f);
  EXPECT_EQ(SymmetricParams(1e-38f, true).scale, 1.0f);
  EXPECT_EQ(WeightScale(0), 1.0f);
  EXPECT_EQ(AsymmetricParams(0, 0).scale, 1.0f);
  EXPECT_EQ(AsymmetricParams(0, 0).zero_point, 0);
  EXPECT_EQ(AsymmetricParams(-1e-40f, 1e-40f).scale, 1.0f);
}

TEST(QParamsTest, TheLargestFloatsHaveAFiniteScale) {
  const float most = std::numeric_limits<float>::max();
  const QuantParams p = AsymmetricParams(-most, most);
  EXPECT_EQ(p.scale, static_cast<float>(2.0 * most / 255.0));
  EXPECT_EQ(p.zero_point, 0);  // -0.5 to even
}

}  // namespace
}  // namespace rshift::numerics
