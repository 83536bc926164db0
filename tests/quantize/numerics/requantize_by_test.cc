// Every Rounding on exact ties, where they differ from each other.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "isa/attributes.h"
#include "quantize/numerics/half_float.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {
namespace {

constexpr int32_t kHalf = 1 << 30;  // as multiplier with rshift 31 + n: a factor of 2^-(n+1)

int32_t By(Rounding rounding, int32_t acc, int32_t rshift) {
  return RequantizeBy(rounding, acc, kHalf, rshift, 0, -1000000000, 1000000000);
}

TEST(RequantizeBy, EveryTieOfEveryShift) {
  for (int32_t n = 2; n <= 20; ++n) {  // a factor of 2^-n
    for (int32_t whole = -260; whole < 260; ++whole) {
      const int32_t acc = whole * (1 << n) + (1 << (n - 1));  // whole + 1/2
      const int32_t rshift = 30 + n;
      ASSERT_EQ(By(Rounding::kHalfUp, acc, rshift), whole + 1) << acc << " " << n;
      const int32_t away = whole >= 0 ? whole + 1 : whole;
      ASSERT_EQ(By(Rounding::kHalfAway, acc, rshift), away) << acc << " " << n;
      // The product by 2^30 / 2^31 is exact: the division sees the tie.
      ASSERT_EQ(By(Rounding::kTwoStep, acc, rshift), away) << acc << " " << n;
      ASSERT_EQ(By(Rounding::kTwoStepUp, acc, rshift), whole + 1) << acc << " " << n;
    }
  }
}

TEST(RequantizeBy, TwoStepRoundsTwice) {
  // The first rounding makes ties of what was just below one.
  const int32_t m = 1250999897;
  int differ = 0;
  for (int32_t acc = -20000; acc <= 20000; ++acc) {
    const int32_t once = RequantizeBy(Rounding::kHalfUp, acc, m, 33, 0, -100000, 100000);
    const int32_t twice = RequantizeBy(Rounding::kTwoStep, acc, m, 33, 0, -100000, 100000);
    ASSERT_LE(std::abs(once - twice), 1);
    differ += once != twice;
  }
  EXPECT_GT(differ, 1000);
}

TEST(RequantizeBy, FloatEvenOnEveryTieWithEveryZeroPoint) {
  const int32_t scale = FloatToWord(0.25f);
  for (const int32_t zero : {-128, -3, 0, 3, 4, 127}) {
    for (int32_t acc = -2048; acc <= 2048; ++acc) {
      const double exact = acc * 0.25;
      const auto clamp = [](double v) {
        return static_cast<int32_t>(v < -128 ? -128 : v > 127 ? 127 : v);
      };
      ASSERT_EQ(RequantizeBy(Rounding::kFloatEven, acc, scale, 0, zero, -128, 127),
                clamp(std::nearbyint(exact) + zero));
      // An odd zero point before the rounding turns ties around.
      ASSERT_EQ(RequantizeBy(Rounding::kFloatZeroEven, acc, scale, 0, zero, -128, 127),
                clamp(std::nearbyint(exact + zero)));
    }
  }
}

TEST(RequantizeBy, AccumulatorsBeyondTwentyFourBitsRoundToEvenFirst) {
  // 2^24 + 1 is 2^24 as a float, 2^24 + 3 is 2^24 + 4.
  const int32_t scale = FloatToWord(0x1p-20f);
  EXPECT_EQ(RequantizeBy(Rounding::kFloatEven, (1 << 24) + (1 << 19) + 1, scale, 0, 0, -128, 127),
            16);  // the tie that float(acc) makes goes to even
  EXPECT_EQ(RequantizeBy(Rounding::kHalfUp, (1 << 24) + (1 << 19) + 1, kHalf, 50, 0, -128, 127),
            17);
}

TEST(RequantizeBy, ExtremesSaturate) {
  for (const Rounding rounding : {Rounding::kHalfUp, Rounding::kHalfAway}) {
    for (const int32_t rshift : {0, 1, 20, 23}) {
      EXPECT_EQ(RequantizeBy(rounding, INT32_MAX, INT32_MAX, rshift, -5, -128, 127), 127);
      EXPECT_EQ(RequantizeBy(rounding, INT32_MIN, INT32_MAX, rshift, -5, -128, 127), -128);
    }
  }
  const int32_t largest = FloatToWord(3.4e38f);
  for (const Rounding rounding : {Rounding::kFloatEven, Rounding::kFloatZeroEven}) {
    EXPECT_EQ(RequantizeBy(rounding, INT32_MAX, largest, 0, -5, -128, 127), 127);
    EXPECT_EQ(RequantizeBy(rounding, INT32_MIN, largest, 0, -5, -128, 127), -128);
    EXPECT_EQ(RequantizeBy(rounding, 0, largest, 0, -5, -128, 127), -5);
  }
}

TEST(HalfFloat, RoundsToHalfAfterTheScaleAndAfterTheBias) {
  HalfEpilogue epilogue;
  // 2049 is a tie between halves: 2048. Plus 1 in half: 2049 again, 2048.
  EXPECT_EQ(DequantizeHalf(2049, 1.0f, 0.0f, epilogue), 2048.0f);
  EXPECT_EQ(DequantizeHalf(2049, 1.0f, 1.0f, epilogue), 2048.0f);
  EXPECT_EQ(DequantizeHalf(2051, 1.0f, 0.0f, epilogue), 2052.0f);
  EXPECT_EQ(DequantizeHalf(3, 0.5f, 0.25f, epilogue), 1.75f);
  epilogue.sqrt_dequant = true;
  EXPECT_EQ(DequantizeHalf(16, 0.5f, 0.0f, epilogue), 4.0f);
  epilogue.relu = true;
  EXPECT_EQ(DequantizeHalf(-16, 0.5f, 0.0f, epilogue), 0.0f);
}

TEST(HalfFloat, OverflowIsInfinityAndSaturates) {
  HalfEpilogue epilogue;
  EXPECT_TRUE(std::isinf(DequantizeHalf(65520, 1.0f, 0.0f, epilogue)));
  EXPECT_EQ(DequantizeHalf(65519, 1.0f, 0.0f, epilogue), 65504.0f);
  EXPECT_EQ(QuantizeHalf(DequantizeHalf(-70000, 1.0f, 0.0f, epilogue), epilogue, -128, 127), -128);
}

TEST(HalfFloat, EveryRoundingOfTheQuantization) {
  HalfEpilogue epilogue{.quant_scale = 2.0f, .quant_offset = 1.0f};
  const int32_t expected[] = {-2, -3, -3, -2, -2};  // of -2.5
  for (int mode = 0; mode < kRealRoundingCount; ++mode) {
    epilogue.mode = static_cast<RealRounding>(mode);
    EXPECT_EQ(QuantizeHalf(-1.75f, epilogue, -128, 127), expected[mode]) << mode;
  }
  epilogue.sqrt_quant = true;
  epilogue.mode = RealRounding::kEven;
  EXPECT_EQ(QuantizeHalf(3.0f, epilogue, -128, 127), 13);
}

}  // namespace
}  // namespace rshift::numerics
