// How large an accumulator gets, against all inputs and weights there are.
#include "quantize/numerics/accumulator.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace rshift::numerics {
namespace {

TEST(AccumulatorTest, NoWeightIsFurtherFromItsZeroPointThanSaid) {
  int64_t largest = 0;
  for (int32_t zero_w = -128; zero_w <= 127; ++zero_w) {
    int64_t found = 0;
    for (int32_t w = -128; w <= 127; ++w) found = std::max<int64_t>(found, std::abs(w - zero_w));
    EXPECT_EQ(LargestDistance(zero_w), found) << zero_w;
    largest = std::max(largest, found);
  }
  EXPECT_EQ(kLargestDistance, largest);
}

TEST(AccumulatorTest, IsReachedByTheLargestInputsOfOneSign) {
  constexpr int32_t kWeights[] = {-128, 3, 127}, kZero = 5, kBias = -1000;
  int64_t acc = kBias, distances = 0;
  for (const int32_t w : kWeights) {
    acc += (w < kZero ? kLargestInput : -kLargestInput) * (w - kZero);
    distances += std::abs(w - kZero);
  }
  EXPECT_EQ(LargestAccumulator<int64_t>(kBias, distances), -acc);
  EXPECT_EQ(LargestAccumulator<int64_t>(-kBias, distances), -acc);
}

TEST(AccumulatorTest, TakesABiasThatDoesNotFitAnInteger) {
  EXPECT_EQ(LargestAccumulator(-1e12, 2.0), 1e12 + 510);
  EXPECT_GT(LargestAccumulator(-1e12, 2.0), static_cast<double>(kInt32Limit));
}

}  // namespace
}  // namespace rshift::numerics
