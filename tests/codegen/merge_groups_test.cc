#include "codegen/passes/merge_groups.h"

#include <gtest/gtest.h>

namespace rshift {
namespace {

TEST(MergeGroupsTest, SmallGroupsFillAColumnOfSixteenChannels) {
  EXPECT_EQ(GroupsPerCommand({}, 64, {128, 2, 3, 3}), 8);
  EXPECT_EQ(GroupsPerCommand({}, 32, {128, 4, 3, 3}), 4);
  EXPECT_EQ(GroupsPerCommand({}, 32, {256, 8, 3, 3}), 2);
}

TEST(MergeGroupsTest, LargeOnesStayApart) {
  EXPECT_EQ(GroupsPerCommand({}, 2, {128, 64, 3, 3}), 1);
  EXPECT_EQ(GroupsPerCommand({}, 32, {2048, 64, 3, 3}), 1);
  EXPECT_EQ(GroupsPerCommand({}, 1, {4, 4, 3, 3}), 1);
}

TEST(MergeGroupsTest, AChannelHasItsWeightsWhereItsInputsAre) {
  // Four groups of one input and two output channels under two taps, by twos.
  const std::vector<int8_t> weights = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const std::vector<int8_t> expected = {1, 2,  0, 0, 3,  4,  0, 0, 0, 0, 5,  6,  0, 0, 7,  8,
                                        9, 10, 0, 0, 11, 12, 0, 0, 0, 0, 13, 14, 0, 0, 15, 16};
  EXPECT_EQ(JoinGroups(weights, {8, 1, 1, 2}, 4, 2, {}), expected);
}

TEST(MergeGroupsTest, OthersHaveTheWeightZeroPoint) {
  const std::vector<int8_t> weights = {1, 2};
  const std::vector<int32_t> zeros = {-3, 5};
  EXPECT_EQ(JoinGroups(weights, {2, 1, 1, 1}, 2, 2, zeros), (std::vector<int8_t>{1, -3, 5, 2}));
}

}  // namespace
}  // namespace rshift
