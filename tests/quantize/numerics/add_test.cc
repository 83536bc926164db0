#include "quantize/numerics/add.h"

#include <gtest/gtest.h>

#include <cmath>

#include "quantize/numerics/add_forms.h"

namespace rshift::numerics {
namespace {

struct Side {
  int32_t lo, hi;
  int32_t magnitude() const { return hi == 255 ? 255 : 128; }
};
constexpr Side kSigned{-128, 127}, kUnsigned{0, 255};

// All pairs: within half a unit plus the multipliers' errors, and never out of the accumulator's
// type.
void CheckAllPairs(double ratio_a, double ratio_b, Side a, Side b, int bits) {
  const AddFactors f = AddMultipliers(ratio_a, ratio_b, a.magnitude(), b.magnitude(), bits);
  ASSERT_TRUE(f.ok);
  const int64_t limit = bits == 8 ? INT16_MAX : INT32_MAX;
  const int64_t rounding = f.rshift == 0 ? 0 : int64_t{1} << (f.rshift - 1);
  const double bound = 0.5 + (a.magnitude() + b.magnitude()) * std::exp2(-(f.rshift + 1)) + 1e-9;
  for (int32_t qa = a.lo; qa <= a.hi; ++qa) {
    for (int32_t qb = b.lo; qb <= b.hi; ++qb) {
      const int64_t sum = int64_t{qa} * f.multiplier_a + int64_t{qb} * f.multiplier_b;
      ASSERT_LE(sum + rounding, limit);
      ASSERT_GE(sum, -limit - 1);
      const double exact = qa * ratio_a + qb * ratio_b;
      const int32_t y =
          AddCommonShift(qa, qb, f.multiplier_a, f.multiplier_b, f.rshift, 0, -1000000, 1000000);
      ASSERT_NEAR(y, exact, bound) << qa << " " << qb;
      const int32_t clamped =
          AddCommonShift(qa, qb, f.multiplier_a, f.multiplier_b, f.rshift, 0, -128, 127);
      ASSERT_EQ(clamped, std::min(std::max(y, -128), 127));
    }
  }
}

TEST(AddTest, EveryPairIsWithinTheBound) {
  for (int bits : {8, 16}) {
    for (auto [a, b] :
         {std::pair{0.5, 0.5}, {1.0, 0.25}, {0.7, 0.01}, {0.05, 0.9}, {1.9, 1.3}, {0.003, 0.002}}) {
      CheckAllPairs(a, b, kSigned, kSigned, bits);
      CheckAllPairs(a, b, kUnsigned, kSigned, bits);
      CheckAllPairs(a, b, kUnsigned, kUnsigned, bits);
    }
  }
}

TEST(AddTest, WorkedExample) {
  // 0.5 and 0.25 at 8 bits: 64 / 2^7 and 32 / 2^7; two s8 operands: 128 * 96 + 64 < 2^15.
  const AddFactors f = AddMultipliers(0.5, 0.25, 128, 128, 8);
  EXPECT_EQ(f.rshift, 7);
  EXPECT_EQ(f.multiplier_a, 64);
  EXPECT_EQ(f.multiplier_b, 32);
  EXPECT_EQ(AddCommonShift(10, 5, 64, 32, 7, 0, -128, 127), 6);     // 6.25
  EXPECT_EQ(AddCommonShift(10, 6, 64, 32, 7, 0, -128, 127), 7);     // 6.5: ties up
  EXPECT_EQ(AddCommonShift(-10, -6, 64, 32, 7, 0, -128, 127), -6);  // -6.5: ties up
}

TEST(AddTest, TwoUnsignedOperandsLoseAMultiplierBit) {
  const AddFactors s = AddMultipliers(0.9, 0.9, 128, 128, 8);
  const AddFactors u = AddMultipliers(0.9, 0.9, 255, 255, 8);
  EXPECT_EQ(s.rshift, 7);
  EXPECT_EQ(u.rshift, 6);
  EXPECT_EQ(u.multiplier_a, 58);
}

TEST(AddTest, ARatioBeyondTheMultiplierHasNone) {
  EXPECT_FALSE(AddMultipliers(200.0, 1.0, 128, 128, 8).ok);
  EXPECT_TRUE(AddMultipliers(200.0, 1.0, 128, 128, 16).ok);
}

TEST(AddFloatTest, EveryPairIsTheRoundedRealSum) {
  const float sa = 0.021f, sb = 0.043f, sy = 0.05f;
  const int32_t za = -20, zb = 7, zy = 11;
  for (int32_t a = -128; a <= 127; ++a) {
    for (int32_t b = -128; b <= 127; ++b) {
      const double exact =
          (static_cast<double>(sa) * (a - za) + static_cast<double>(sb) * (b - zb)) / sy + zy;
      const int32_t y = AddFloat(a, sa, za, b, sb, zb, sy, zy, -128, 127);
      ASSERT_NEAR(y, std::fmin(std::fmax(exact, -128.0), 127.0), 0.5001) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
