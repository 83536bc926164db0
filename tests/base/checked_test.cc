#include "base/checked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace rshift {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr uint64_t kUMax = std::numeric_limits<uint64_t>::max();

TEST(CheckedTest, AddAndMulAtTheLimits) {
  EXPECT_EQ(CheckedAdd<int64_t>(kMax - 1, 1), kMax);
  EXPECT_FALSE(CheckedAdd<int64_t>(kMax, 1));
  EXPECT_FALSE(CheckedAdd<int64_t>(kMin, -1));
  EXPECT_FALSE(CheckedAdd<uint64_t>(kUMax, 1));
  EXPECT_EQ(CheckedMul<uint64_t>(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), kUMax - 0xffffffff);
  EXPECT_FALSE(CheckedMul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32));
  EXPECT_FALSE(CheckedMul<int64_t>(kMin, -1));
  EXPECT_EQ(CheckedMul<int64_t>(kMin, 0), 0);
}

// Against 128-bit arithmetic, over every pair of interesting values.
TEST(CheckedTest, AgreesWithWideArithmetic) {
  const int64_t values[] = {kMin, kMin + 1,         -(int64_t{1} << 32), -3,       -1,       0,   1,
                            2,    int64_t{1} << 31, int64_t{1} << 32,    kMax / 3, kMax - 1, kMax};
  const auto fits = [](__int128 wide) { return wide >= kMin && wide <= kMax; };
  for (const int64_t a : values) {
    for (const int64_t b : values) {
      const __int128 product = static_cast<__int128>(a) * b;
      const __int128 sum = static_cast<__int128>(a) + b;
      EXPECT_EQ(CheckedMul<int64_t>(a, b).has_value(), fits(product)) << a << " * " << b;
      EXPECT_EQ(CheckedAdd<int64_t>(a, b).has_value(), fits(sum)) << a << " + " << b;
      if (fits(product)) {
        EXPECT_EQ(CheckedMul<int64_t>(a, b), static_cast<int64_t>(product));
      }
      if (fits(sum)) {
        EXPECT_EQ(CheckedAdd<int64_t>(a, b), static_cast<int64_t>(sum));
      }
    }
  }
}

TEST(CheckedTest, RoundUp) {
  EXPECT_EQ(CheckedRoundUp<uint64_t>(0, 64), 0u);
  EXPECT_EQ(CheckedRoundUp<uint64_t>(1, 64), 64u);
  EXPECT_EQ(CheckedRoundUp<uint64_t>(64, 64), 64u);
  EXPECT_FALSE(CheckedRoundUp<uint64_t>(kUMax - 3, 64));
}

TEST(CheckedTest, SaturatingStaysAtTheLargestNumber) {
  EXPECT_EQ(SaturatingAdd(2, 3), 5u);
  EXPECT_EQ(SaturatingAdd(kUMax, 1), kUMax);
  EXPECT_EQ(SaturatingMul(6, 7), 42u);
  EXPECT_EQ(SaturatingMul(kUMax, 2), kUMax);
  EXPECT_EQ(SaturatingMul(kUMax, 0), 0u);
}

TEST(CheckedTest, RangeFitsNeverWraps) {
  EXPECT_TRUE(RangeFits(0, 0, 0));
  EXPECT_TRUE(RangeFits(10, 90, 100));
  EXPECT_TRUE(RangeFits(100, 0, 100));
  EXPECT_FALSE(RangeFits(10, 91, 100));
  EXPECT_FALSE(RangeFits(101, 0, 100));
  EXPECT_FALSE(RangeFits(kUMax, 2, 100));
  EXPECT_FALSE(RangeFits(2, kUMax, 100));
}

}  // namespace
}  // namespace rshift
