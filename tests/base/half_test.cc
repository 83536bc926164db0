#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace rshift {
namespace {

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

bool IsNan(uint16_t bits) { return (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0; }

// What the format says a finite pattern is worth.
double Worth(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) ? -magnitude : magnitude;
}

TEST(HalfTest, EveryPatternSurvivesTheRoundTrip) {
  for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    const uint16_t expected = IsNan(bits) ? static_cast<uint16_t>(bits | 0x200) : bits;
    ASSERT_EQ(FloatToHalf(HalfToFloat(bits)), expected) << std::hex << pattern;
  }
}

TEST(HalfTest, EveryFinitePatternHasItsExactValue) {
  for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    if ((bits & 0x7c00) == 0x7c00) continue;
    const float value = HalfToFloat(bits);
    ASSERT_EQ(static_cast<double>(value), Worth(bits)) << std::hex << pattern;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << std::hex << pattern;
  }
}

// Between every two neighbours: just below the middle, the middle (to the even one), just above it.
TEST(HalfTest, RoundsToNearestEvenBetweenAllNeighbours) {
  for (uint32_t pattern = 0; pattern < 0x7c00; ++pattern) {
    const auto low = static_cast<uint16_t>(pattern);
    const auto high = static_cast<uint16_t>(pattern + 1);
    const double next = high == 0x7c00 ? 65536.0 : Worth(high);
    const auto middle = static_cast<float>((Worth(low) + next) / 2);  // exact in binary32
    const uint16_t even = (low & 1) == 0 ? low : high;
    for (const uint16_t sign : {uint16_t{0}, uint16_t{0x8000}}) {
      const float direction = sign ? -1.0f : 1.0f;
      ASSERT_EQ(FloatToHalf(direction * std::nextafterf(middle, 0.0f)), low | sign) << pattern;
      ASSERT_EQ(FloatToHalf(direction * middle), even | sign) << pattern;
      ASSERT_EQ(FloatToHalf(direction * std::nextafterf(middle, 1e6f)), high | sign) << pattern;
    }
  }
}

TEST(HalfTest, InfinitiesOverflowAndUnderflow) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(FloatToHalf(infinity), 0x7c00);
  EXPECT_EQ(FloatToHalf(-infinity), 0xfc00);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(FloatToHalf(-std::numeric_limits<float>::min()), 0x8000);
  EXPECT_EQ(HalfToFloat(0x7c00), infinity);
  EXPECT_EQ(HalfToFloat(0xfc00), -infinity);
}

TEST(HalfTest, NanStaysNanQuietAndSigned) {
  EXPECT_EQ(Bits(HalfToFloat(0x7c01)), 0x7fc02000u);
  EXPECT_EQ(Bits(HalfToFloat(0xfe00)), 0xffc00000u);
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0x7f800001u)), 0x7e00);  // payload lost, still a NaN
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0xffffffffu)), 0xffff);
}

// The conversion never moves a value further than to the closest half, on a million random
// patterns.
TEST(HalfTest, RandomFloatsGoToTheNearestHalf) {
  std::mt19937 random(11);
  for (int i = 0; i < 1000000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!(std::fabs(value) < 65520.0f)) continue;
    const uint16_t half = FloatToHalf(value);
    const double error = std::fabs(Worth(half) - value);
    const auto magnitude = static_cast<uint16_t>(half & 0x7fff);
    if (magnitude > 0) {
      ASSERT_LE(error, std::fabs(Worth(static_cast<uint16_t>(half - 1)) - value)) << value;
    }
    if (magnitude < 0x7bff) {
      ASSERT_LE(error, std::fabs(Worth(static_cast<uint16_t>(half + 1)) - value)) << value;
    }
  }
}

}  // namespace
}  // namespace rshift
