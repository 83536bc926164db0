#include "quantize/numerics/prelu.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rshift::numerics {
namespace {

TEST(PReluTest, TheCommonShiftUsesTheSlopesBits) {
  EXPECT_EQ(PReluShift(0.25), 8);  // 64
  EXPECT_EQ(PReluShift(0.9), 7);   // 115
  EXPECT_EQ(PReluShift(1.0), 6);   // 64: 128 does not fit
  EXPECT_EQ(PReluShift(100.0), 0);
  EXPECT_EQ(PReluShift(1000.0), 0);  // the slope then saturates to 127, as its products do
  EXPECT_EQ(PReluShift(0.0), 0);
  EXPECT_EQ(PReluShift(1e-20), 30);
}

TEST(PReluTest, NegativeSlopesKeepTheirSign) {
  EXPECT_EQ(PReluSlope(-0.25, 8), -64);
  LeakyParams p;
  p.multiplier = -64;
  p.rshift = 8;
  EXPECT_EQ(PRelu(-40, p), 10);
  EXPECT_EQ(PRelu(40, p), 40);
}

TEST(PReluTest, EveryInputIsWithinTheBound) {
  for (double slope : {-0.7, -0.01, 0.0, 0.003, 0.25, 0.5, 0.99}) {
    const int32_t shift = PReluShift(1.0);  // another channel's slope is larger
    LeakyParams p;
    p.multiplier = PReluSlope(slope, shift);
    p.rshift = shift;
    for (int32_t x = -128; x < 0; ++x) {
      const double bound = 0.5 + 128 * std::exp2(-(shift + 1));
      EXPECT_NEAR(PRelu(x, p), slope * x, bound) << slope << " " << x;
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
