#include "pipeline/channel_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rshift {
namespace {

using Floats = std::vector<float>;

ChannelSqnr Measure(const ChannelView& view, const Floats& a, const Floats& b) {
  ChannelErrorSum sum({view});
  sum.Add(a, b);
  return sum.Result();
}

TEST(ChannelErrorTest, ALargeChannelDoesNotHideSmallOnes) {
  // Channel 0 is 1000 with an error of 1, channels 1 and 2 are 1 with an error of 1.
  const ChannelSqnr s = Measure({1, 3, 1}, {1001, 2, 2}, {1000, 1, 1});
  EXPECT_EQ(s.channels, 3);
  EXPECT_NEAR(s.median_db, 0, 1e-12);
  EXPECT_NEAR(s.worst_decile_db, 0, 1e-12);
  EXPECT_EQ(s.worst_channel, 1);
}

TEST(ChannelErrorTest, MedianAndDecileAreOfTheSortedChannels) {
  Floats a, b;
  for (int c = 0; c < 21; ++c) {
    b.push_back(1);
    a.push_back(1 + std::pow(10.0f, -static_cast<float>(c) / 20));  // c dB
  }
  const ChannelSqnr s = Measure({1, 21, 1}, a, b);
  EXPECT_NEAR(s.median_db, 10, 1e-3);
  EXPECT_NEAR(s.worst_decile_db, 2, 1e-3);
  EXPECT_NEAR(s.worst_db, 0, 1e-3);
}

TEST(ChannelErrorTest, TheAxisMayBeInTheMiddleOrLast) {
  // Two channels of four elements each, one of them wrong, laid out both ways.
  const Floats runs_b = {1, 1, 2, 2, 1, 1, 2, 2}, runs_a = {2, 2, 2, 2, 2, 2, 2, 2};
  EXPECT_NEAR(Measure({2, 2, 2}, runs_a, runs_b).worst_db, 0, 1e-12);
  EXPECT_EQ(Measure({2, 2, 2}, runs_a, runs_b).worst_channel, 0);
  const Floats last_b = {2, 1, 2, 1}, last_a = {2, 2, 2, 2};
  EXPECT_EQ(Measure({2, 2, 1}, last_a, last_b).worst_channel, 1);
}

TEST(ChannelErrorTest, EmptyChannelsDoNotCountAndNanIsWorst) {
  EXPECT_EQ(Measure({1, 2, 1}, {5, 1}, {0, 1}).channels, 1);
  EXPECT_EQ(Measure({1, 2, 1}, {5, 1}, {0, 1}).median_db, 200);
  EXPECT_EQ(Measure({1, 2, 1}, {0, 0}, {0, 0}).channels, 0);
  EXPECT_EQ(Measure({1, 1, 1}, {std::numeric_limits<float>::quiet_NaN()}, {1}).median_db, -200);
}

TEST(ChannelErrorTest, ViewsFollowTheLayout) {
  const auto views = ChannelViews(Layout::kNhwc, {1, 4, 4, 8});
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].channels, 8);
  EXPECT_EQ(ChannelViews(Layout::kPlain, {1, 8, 4, 4})[0].channels, 8);
  EXPECT_EQ(ChannelViews(Layout::kPlain, {1, 8, 4, 4})[0].inner, 16);
  EXPECT_EQ(ChannelViews(Layout::kPlain, {1, 3, 7}).size(), 2u);
  EXPECT_EQ(ChannelViews(Layout::kPlain, {5})[0].channels, 1);
  EXPECT_EQ(ChannelViews(Layout::kPlain, {1, 0, 3, 3})[0].inner, 0);
}

TEST(ChannelErrorTest, OfThreeDimensionsTheWorseAxisCounts) {
  // Features (the last axis) differ in size by 1000; every token is dominated by the large one.
  ChannelErrorSum sum(ChannelViews(Layout::kPlain, {1, 3, 2}));
  sum.Add(Floats{1001, 2, 1001, 2, 1001, 2}, Floats{1000, 1, 1000, 1, 1000, 1});
  EXPECT_EQ(sum.Result().channels, 2);
  EXPECT_NEAR(sum.Result().median_db, 0, 1e-12);
}

}  // namespace
}  // namespace rshift
