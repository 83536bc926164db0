#include "quantize/numerics/multiplier.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <random>

#include "isa/attributes.h"

namespace rshift::numerics {
namespace {

TEST(MultiplierTest, IsTheWorkedExample) {
  EXPECT_EQ(QuantizeMultiplier(0.1234), (RequantWords{2119995857, 34}));
}

TEST(MultiplierTest, PowersOfTwoAreExact) {
  for (int e = -32; e <= 30; ++e) {
    EXPECT_EQ(QuantizeMultiplier(std::ldexp(1.0, e)), (RequantWords{1 << 30, 30 - e})) << e;
  }
}

TEST(MultiplierTest, RenormalisesWhenRoundingReachesTheTop) {
  EXPECT_EQ(QuantizeMultiplier(std::nextafter(1.0, 0.0)), (RequantWords{1 << 30, 30}));
  EXPECT_EQ(QuantizeMultiplier(0.999, 8), (RequantWords{64, 6}));
  EXPECT_EQ(QuantizeMultiplier(0.99, 8), (RequantWords{127, 7}));
}

TEST(MultiplierTest, StaysInRangeAndWithinTheErrorBound) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-30, 1020), mantissa(1, 2);
  for (int bits : {8, 16, 32}) {
    for (int i = 0; i < 200000; ++i) {
      const double scale = mantissa(random) * std::exp2(std::floor(exponent(random)));
      const RequantWords m = QuantizeMultiplier(scale, bits);
      ASSERT_GE(m.multiplier, int64_t{1} << (bits - 2)) << scale;
      ASSERT_LT(m.multiplier, int64_t{1} << (bits - 1)) << scale;
      ASSERT_LE(m.rshift, kMaxRshift);
      const double error = std::fabs(std::ldexp(m.multiplier, -m.rshift) - scale) / scale;
      ASSERT_LE(error, std::exp2(-(bits - 1))) << scale << " at " << bits;
    }
  }
}

TEST(MultiplierTest, IsTheNearestMultiplierOfItsShift) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (int i = 0; i < 100000; ++i) {
    const double scale = mantissa(random) / 64;
    const RequantWords m = QuantizeMultiplier(scale);
    const double exact = std::ldexp(scale, m.rshift);  // exact: a power of two
    ASSERT_LE(std::fabs(m.multiplier - exact), 0.5) << scale;
  }
}

TEST(MultiplierTest, FlushesWhatNeedsMoreThan62Bits) {
  EXPECT_EQ(QuantizeMultiplier(std::ldexp(1.0, -32)), (RequantWords{1 << 30, 62}));
  EXPECT_EQ(QuantizeMultiplier(std::ldexp(1.0, -34)), RequantWords{});
  EXPECT_EQ(QuantizeMultiplier(std::nextafter(std::ldexp(1.0, -32), 0.0)),
            (RequantWords{1 << 30, 62}));
  EXPECT_EQ(QuantizeMultiplier(std::ldexp(0.99, -32)), RequantWords{});
  EXPECT_EQ(QuantizeMultiplier(DBL_MIN), RequantWords{});
  EXPECT_EQ(QuantizeMultiplier(std::numeric_limits<double>::denorm_min()), RequantWords{});
}

TEST(MultiplierTest, FromTheTopOnShiftsLeft) {
  EXPECT_EQ(QuantizeMultiplier(2147483647.0), (RequantWords{2147483647, 0}));
  EXPECT_EQ(QuantizeMultiplier(2147483648.0), (RequantWords{1 << 30, -1}));
  EXPECT_EQ(QuantizeMultiplier(std::nextafter(2147483648.0, 0.0)), (RequantWords{1 << 30, -1}));
  EXPECT_EQ(QuantizeMultiplier(1.5 * 4294967296.0), (RequantWords{3 << 29, -2}));
  EXPECT_EQ(QuantizeMultiplier(DBL_MAX), (RequantWords{1 << 30, -994}));
  EXPECT_EQ(QuantizeMultiplier(127.0, 8), (RequantWords{127, 0}));
  EXPECT_EQ(QuantizeMultiplier(128.0, 8), (RequantWords{64, -1}));
}

TEST(MultiplierTest, RejectsWhatIsNotAPositiveFiniteScale) {
  EXPECT_THROW(QuantizeMultiplier(0.0), Error);
  EXPECT_THROW(QuantizeMultiplier(-1.0), Error);
  EXPECT_THROW(QuantizeMultiplier(std::nan("")), Error);
  EXPECT_THROW(QuantizeMultiplier(INFINITY), Error);
}

TEST(MultiplierTest, ReplacesWhatDoesNotFitByAPairWithTheSameResult) {
  EXPECT_EQ(AccumulatorMultiplier(1e30), (RequantWords{INT32_MAX, 0}));
  EXPECT_EQ(AccumulatorMultiplier(std::numeric_limits<double>::infinity()),
            (RequantWords{INT32_MAX, 0}));
  EXPECT_EQ(AccumulatorMultiplier(1e-30), RequantWords{});
  EXPECT_EQ(AccumulatorMultiplier(1e30, 25), (RequantWords{INT32_MAX, 0}));
  EXPECT_EQ(AccumulatorMultiplier(2147483640.0, 25), (RequantWords{INT32_MAX, 0}));
  EXPECT_EQ(AccumulatorMultiplier(1e-30, 25), RequantWords{});
  EXPECT_EQ(RescaleMultiplier(1e-30), (RequantWords{1 << 30, 62}));
  EXPECT_EQ(RescaleMultiplier(0.1234), (RequantWords{2119995857, 34}));
}

// 0.1234 with 24 bits is 16562468 / 2^27.
TEST(MultiplierTest, OfTwentyFiveBitsIsWrittenWithThirtyTwo) {
  EXPECT_EQ(QuantizeMultiplier(0.1234, 25), (RequantWords{16562468, 27}));
  EXPECT_EQ(AccumulatorMultiplier(0.1234, 25), (RequantWords{16562468 << 7, 34}));
  EXPECT_EQ(AccumulatorMultiplier(std::ldexp(1.0, -32), 25), (RequantWords{1 << 30, 62}));
  EXPECT_EQ(AccumulatorMultiplier(std::ldexp(1.0, -33), 25), RequantWords{});
  EXPECT_EQ(AccumulatorMultiplier(3.0, 25), AccumulatorMultiplier(3.0));
}

}  // namespace
}  // namespace rshift::numerics
