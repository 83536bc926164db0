#include "quantize/numerics/leaky_relu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "isa/attributes.h"
#include "quantize/numerics/multiplier.h"

namespace rshift::numerics {
namespace {

TEST(LeakyReluTest, EqualScalesPassPositiveValues) {
  const RequantWords m = QuantizeMultiplier(0.1, 8);
  EXPECT_EQ(m, (RequantWords{102, 10}));
  LeakyParams p;
  p.multiplier = m.multiplier;
  p.rshift = m.rshift;
  for (int32_t x = 0; x <= 127; ++x) EXPECT_EQ(LeakyRelu(x, p), x);
  EXPECT_EQ(LeakyRelu(-100, p), -10);
  EXPECT_EQ(LeakyRelu(-5, p), 0);  // -0.498 -> 0
  EXPECT_EQ(LeakyRelu(-6, p), -1);
}

TEST(LeakyReluTest, BranchesOnTheZeroPointNotOnZero) {
  LeakyParams p;
  p.zero_x = p.zero_y = 50;
  p.multiplier = 64;
  p.rshift = 7;  // 0.5
  EXPECT_EQ(LeakyRelu(60, p), 60);
  EXPECT_EQ(LeakyRelu(50, p), 50);
  EXPECT_EQ(LeakyRelu(40, p), 45);  // x >= 0, but the real value is negative
}

TEST(LeakyReluTest, DifferentScalesAreWithinTheBound) {
  for (double ratio : {0.3, 0.97, 1.6}) {
    for (double alpha : {0.0, 0.01, 0.25, 1.0}) {
      for (int bits : {8, 16}) {
        LeakyParams p;
        p.zero_x = -30;
        p.zero_y = 12;
        p.lo = -1000;
        p.hi = 1000;
        const RequantWords positive = RescaleMultiplier(ratio);
        const RequantWords negative =
            alpha == 0 ? RequantWords{} : QuantizeMultiplier(alpha * ratio, bits);
        p.multiplier = negative.multiplier;
        p.rshift = negative.rshift;
        p.multiplier_positive = positive.multiplier;
        p.rshift_positive = positive.rshift;
        for (int32_t x = -128; x <= 127; ++x) {
          const int32_t v = x - p.zero_x;
          const double exact = (v >= 0 ? v : alpha * v) * ratio + p.zero_y;
          const double bound = 0.5 + std::fabs(alpha * ratio * v) * std::exp2(-(bits - 1)) + 1e-4;
          EXPECT_NEAR(LeakyRelu(x, p), exact, bound) << x << " " << ratio << " " << alpha;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
