#include "quantize/numerics/normalize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "quantize/numerics/normalize_terms.h"

namespace rshift::numerics {
namespace {

bool IsRoot(uint64_t w) {
  const uint64_t root = SquareRoot(w);
  return root * root <= w && (root + 1) * (root + 1) > w;
}

TEST(Normalize, TheSquareRootIsExact) {
  const uint64_t lowest = uint64_t{1} << 60, highest = (uint64_t{1} << 62) - 1;
  EXPECT_TRUE(IsRoot(lowest));
  EXPECT_TRUE(IsRoot(highest));
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i) {
    const uint64_t w = lowest + random() % (highest - lowest);
    ASSERT_TRUE(IsRoot(w)) << w;
    const uint64_t root = SquareRoot(w);  // around squares, where one off would show
    ASSERT_TRUE(IsRoot(root * root)) << root;
    if (root * root > lowest) {
      ASSERT_TRUE(IsRoot(root * root - 1)) << root;
    }
  }
}

TEST(Normalize, TheInverseIsWithin2ToTheMinus28) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    const int32_t shift = static_cast<int32_t>(random() % 23) * 2;
    const int bits = static_cast<int>(random() % static_cast<uint64_t>(60 - shift));
    const uint64_t top = uint64_t{1} << bits;
    const auto variance = static_cast<int64_t>(top | (random() & (top - 1)));
    const auto epsilon = static_cast<int64_t>(random() >> (3 + random() % 60));
    const InverseDeviation by = Invert(variance, epsilon, shift);
    ASSERT_GE(by.shift, 12);
    ASSERT_LE(by.shift, 42);
    ASSERT_GE(by.inverse, 1 << 30);
    const long double v = std::ldexp(static_cast<long double>(variance), shift) + epsilon;
    const long double exact = std::ldexp(1.0L / std::sqrt(v), shift / 2 + kNormalizedBits);
    const long double is = std::ldexp(static_cast<long double>(by.inverse), -by.shift);
    ASSERT_LE(std::fabs(is / exact - 1), std::ldexp(1.0L, -28)) << variance << " " << epsilon;
  }
}

TEST(Normalize, NoVarianceGivesTheBias) {
  const InverseDeviation by = Invert(0, 123, 10);
  EXPECT_EQ(Normalized(0, by), 0);
  EXPECT_EQ(ScaleNormalized(0, 1 << 20, NormalizeOffset(7.4, 40), 40, -128, 127), 7);
}

TEST(Normalize, TermsOfTheVarianceStayInBounds) {
  for (const int64_t n : {int64_t{1}, int64_t{64}, int64_t{50176}, kMostNormalized}) {
    for (const double epsilon : {0.0, 1e-12, 1e-5, 1.0, 1e6, 1e30}) {
      const VarianceTerms terms = MakeVarianceTerms(n, 255, epsilon);
      EXPECT_EQ(terms.shift % 2, 0);
      EXPECT_LE(terms.epsilon, kLargestVariance / 2);
      EXPECT_LE(n * n * 255 * 255, (kLargestVariance / 2) >> terms.shift);
    }
  }
  EXPECT_EQ(MakeVarianceTerms(64, 255, 0).shift, 32);
  EXPECT_EQ(MakeVarianceTerms(64, 255, 0.5).epsilon, int64_t{2048} << 32);
}

TEST(Normalize, FactorsUseTheirBitsAndSaturate) {
  EXPECT_EQ(FactorShift(1.0), 48);
  EXPECT_EQ(NormalizeFactor(1.0, 48), 1 << 29);
  EXPECT_EQ(NormalizeFactor(-1.0, 48), -(1 << 29));
  EXPECT_EQ(FactorShift(0.0), 56);
  EXPECT_EQ(FactorShift(1e30), kNormalizedBits);
  EXPECT_EQ(NormalizeFactor(1e30, kNormalizedBits), kLargestFactor);
  EXPECT_EQ(NormalizeOffset(1e30, 40), kLargestOffset);
  EXPECT_EQ(NormalizeOffset(-1e30, 40), -kLargestOffset);
  EXPECT_EQ(NormalizeOffset(-3, 4), -3 * 16 + 8);
}

}  // namespace
}  // namespace rshift::numerics
