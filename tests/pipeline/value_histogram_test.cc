#include "pipeline/value_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace rshift {
namespace {

ValueHistogram Of(const std::vector<std::vector<float>>& pieces) {
  ValueHistogram histogram;
  for (const auto& piece : pieces) histogram.Add(piece);
  return histogram;
}

int64_t Sum(const ValueHistogram& h) {
  return std::accumulate(h.counts().begin(), h.counts().end(), int64_t{0});
}

TEST(ValueHistogramTest, EveryValueLiesInTheBinThatBearsIt) {
  const std::vector<float> values = {0.0f, 0.99f, -0.01f, 1.0f, -1.0f, 40.0f, -63.9f};
  const ValueHistogram h = Of({values});
  EXPECT_EQ(h.bin_width(), 1.0);  // 63.9 needs 64 bins of 1
  EXPECT_EQ(h.counts()[64], 2);
  EXPECT_EQ(h.counts()[65], 1);
  EXPECT_EQ(h.counts()[63], 2);
  EXPECT_EQ(h.counts()[104], 1);
  EXPECT_EQ(h.counts()[0], 1);
  EXPECT_EQ(h.min(), -63.9f);
  EXPECT_EQ(h.max(), 40.0f);
  EXPECT_EQ(Sum(h), 7);
}

TEST(ValueHistogramTest, TheOrderOfThePiecesMakesNoDifference) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> pieces;
  for (int p = 0; p < 20; ++p) {
    std::vector<float> piece(100);
    for (float& v : piece) v = std::ldexp(normal(random), p * 3 - 30);
    pieces.push_back(piece);
  }
  const ValueHistogram up = Of(pieces);
  std::reverse(pieces.begin(), pieces.end());
  const ValueHistogram down = Of(pieces);
  EXPECT_EQ(up.counts(), down.counts());
  EXPECT_EQ(up.bin_width(), down.bin_width());
  EXPECT_EQ(Sum(up), 2000);
}

TEST(ValueHistogramTest, ZerosTinyHugeAndNoFiniteValues) {
  EXPECT_EQ(Of({{0.0f, 0.0f}}).counts()[64], 2);
  EXPECT_EQ(Sum(Of({{1e-45f}, {3e38f}, {-3e38f}})), 3);
  const ValueHistogram odd = Of({{NAN, INFINITY, -INFINITY, 1.0f}});
  EXPECT_EQ(odd.non_finite(), 3);
  EXPECT_EQ(Sum(odd), 1);
  EXPECT_EQ(odd.max(), 1.0f);
  EXPECT_EQ(Sum(Of({{NAN}, {}})), 0);
  EXPECT_EQ(Of({{-64.0f, 63.0f}}).counts()[0] + Of({{-64.0f}}).counts()[32], 1);
}

}  // namespace
}  // namespace rshift
