#include "quantize/numerics/requantize.h"

#include <gtest/gtest.h>

#include <random>

#include "isa/attributes.h"
#include "quantize/numerics/multiplier.h"

namespace rshift::numerics {
namespace {

TEST(RequantizeTest, RoundsTiesTowardsPlusInfinity) {
  EXPECT_EQ(ShiftRightRounded(5, 1), 3);    // 2.5
  EXPECT_EQ(ShiftRightRounded(-5, 1), -2);  // -2.5
  EXPECT_EQ(ShiftRightRounded(7, 2), 2);    // 1.75
  EXPECT_EQ(ShiftRightRounded(-7, 2), -2);
  EXPECT_EQ(ShiftRightRounded(-7, 0), -7);
}

TEST(RequantizeTest, IsFloorOfTheExactQuotientPlusAHalf) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const auto acc = static_cast<int32_t>(random());
    const auto multiplier = static_cast<int32_t>((1u << 30) + (random() & ((1u << 30) - 1)));
    const auto rshift = static_cast<int32_t>(random() % 63);
    const __int128 product = static_cast<__int128>(acc) * multiplier;
    const __int128 expected =
        rshift == 0 ? product : (product + (static_cast<__int128>(1) << (rshift - 1))) >> rshift;
    ASSERT_EQ(MultiplyShift(acc, multiplier, rshift), static_cast<int64_t>(expected))
        << acc << " " << multiplier << " " << rshift;
  }
}

TEST(RequantizeTest, ExtremesDoNotOverflow) {
  for (int32_t acc : {INT32_MIN, INT32_MAX}) {
    for (int32_t rshift : {0, 1, 31, 61, 62}) {
      const int32_t y = Requantize(acc, INT32_MAX, rshift, 0, -128, 127);
      if (rshift <= 31) {
        EXPECT_EQ(y, acc < 0 ? -128 : 127) << acc << " " << rshift;
      }
      if (rshift == 62) {
        EXPECT_EQ(y, acc < 0 ? -1 : 1) << acc;
      }
    }
  }
}

TEST(RequantizeTest, AddsTheZeroPointAfterRoundingAndBeforeSaturating) {
  const RequantWords m = QuantizeMultiplier(0.5);
  EXPECT_EQ(Requantize(5, m.multiplier, m.rshift, 10, -128, 127), 13);  // 2.5 -> 3
  EXPECT_EQ(Requantize(-5, m.multiplier, m.rshift, 10, -128, 127), 8);  // -2.5 -> -2
  EXPECT_EQ(Requantize(300, m.multiplier, m.rshift, -100, -128, 127), 50);
  EXPECT_EQ(Requantize(1000, m.multiplier, m.rshift, 0, 0, 255), 255);
  EXPECT_EQ(Requantize(-1000, m.multiplier, m.rshift, 3, 0, 255), 0);
}

TEST(RequantizeTest, MultiplierZeroOfABytePassesItUnchanged) {
  for (int32_t x = -128; x <= 127; ++x) {
    EXPECT_EQ(RequantizeByte(Rounding::kHalfUp, x, 5, 0, 0, 5, -128, 127), x);
    EXPECT_EQ(RequantizeByte(Rounding::kHalfUp, x, 0, 0, 0, 0, 0, 50), x < 0 ? 0 : x > 50 ? 50 : x);
  }
}

TEST(RequantizeTest, RescalesEveryByteWithinHalfAUnit) {
  for (double scale : {0.01, 0.37, 0.999, 1.7, 40.0}) {
    const RequantWords m = RescaleMultiplier(scale);
    for (int32_t v = -255; v <= 255; ++v) {
      const double exact = v * scale;
      EXPECT_NEAR(static_cast<double>(Rescale(v, m.multiplier, m.rshift)), exact, 0.5 + 1e-4) << v;
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
