#include "pipeline/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace rshift {
namespace {

using Floats = std::vector<float>;

TEST(CompareTest, EqualTensorsReachEveryMaximum) {
  const Similarity s = Compare(Floats{1, -2, 3}, Floats{1, -2, 3});
  EXPECT_TRUE(s.equal);
  EXPECT_EQ(s.cosine, 1);
  EXPECT_EQ(s.euclid, 1);
  EXPECT_EQ(s.sqnr_db, 200);
  EXPECT_EQ(s.max_abs, 0);
}

TEST(CompareTest, WorkedExample) {
  // a = (3, 4), b = (4, 3): cosine 24/25, |a-b| = sqrt 2, |(a+b)/2| = sqrt(24.5), SQNR = 10
  // log10(25 / 2).
  const Similarity s = Compare(Floats{3, 4}, Floats{4, 3});
  EXPECT_NEAR(s.cosine, 0.96, 1e-12);
  EXPECT_NEAR(s.euclid, 1 - std::sqrt(2.0) / std::sqrt(24.5), 1e-12);
  EXPECT_NEAR(s.sqnr_db, 10 * std::log10(12.5), 1e-12);
  EXPECT_EQ(s.max_abs, 1);
  EXPECT_FALSE(s.equal);
}

TEST(CompareTest, AConstantErrorIsSeenBySqnr) {
  // With the mean removed this error would be invisible.
  EXPECT_NEAR(Compare(Floats{2, 2, 2}, Floats{1, 1, 1}).sqnr_db, 0, 1e-12);
}

TEST(CompareTest, NanOnEitherSideFailsAnyTolerance) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tolerance anything{-1e9, -1e9};
  EXPECT_FALSE(anything.Accepts(Compare(Floats{nan, 1}, Floats{1, 1})));
  EXPECT_FALSE(anything.Accepts(Compare(Floats{1, 1}, Floats{1, nan})));
  EXPECT_TRUE(anything.Accepts(Compare(Floats{1, 1}, Floats{1, 5})));
}

TEST(CompareTest, AllZeroAgainstSomethingIsNotSimilar) {
  EXPECT_EQ(Compare(Floats{0, 0}, Floats{1, 1}).cosine, 0);
  EXPECT_EQ(Compare(Floats{0, 0}, Floats{0, 0}).cosine, 1);
}

TEST(CompareTest, PiecesSumToTheWhole) {
  SimilaritySum pieces;
  pieces.Add(Floats{1, 2}, Floats{1, 3});
  pieces.Add(Floats{-4}, Floats{-3});
  const Similarity whole = Compare(Floats{1, 2, -4}, Floats{1, 3, -3});
  EXPECT_EQ(pieces.Result().cosine, whole.cosine);
  EXPECT_EQ(pieces.Result().sqnr_db, whole.sqnr_db);
  EXPECT_EQ(pieces.Result().count, 3);
}

TEST(CompareTest, ToleranceTextIsStrict) {
  EXPECT_EQ(ParseTolerance("0.98,0.7").euclid, 0.7);
  for (const char* bad : {"", "0.9", "0.9,", "0.9;0.8", "0.9,0.8,0.7", "a,b"}) {
    EXPECT_THROW(ParseTolerance(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace rshift
