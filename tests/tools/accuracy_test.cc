#include "tools/accuracy.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace rshift {
namespace {

TEST(AccuracyTest, CountsTopKWithTiesToTheLowerClass) {
  Accuracy accuracy({1, 2});
  accuracy.Add(std::vector<float>{0.1f, 0.7f, 0.2f}, 1, "a");  // first
  accuracy.Add(std::vector<float>{0.1f, 0.7f, 0.2f}, 2, "b");  // second
  accuracy.Add(std::vector<float>{0.5f, 0.5f, 0.1f}, 1, "c");  // tie: class 0 comes first
  accuracy.Add(std::vector<float>{0.5f, 0.5f, 0.1f}, 0, "d");
  EXPECT_EQ(accuracy.images(), 4);
  EXPECT_EQ(accuracy.Percent(0), 50);
  EXPECT_EQ(accuracy.Percent(1), 100);
}

TEST(AccuracyTest, RefusesLabelsOutsideTheClassesAndNanScores) {
  Accuracy accuracy({1});
  const std::vector<float> scores{0, 1};
  EXPECT_THROW(accuracy.Add(scores, 2, "a"), Error);
  EXPECT_THROW(accuracy.Add(scores, -1, "a"), Error);
  EXPECT_THROW(accuracy.Add(std::vector<float>{0, std::numeric_limits<float>::quiet_NaN()}, 0, "a"),
               Error);
}

TEST(AccuracyTest, TopListIsStrict) {
  EXPECT_EQ(ParseTop("1,5"), (std::vector<int>{1, 5}));
  for (const char* bad : {"", "0", "1,", "1,,5", "-1", "one", "1,5,1", "99999999"}) {
    EXPECT_THROW(ParseTop(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace rshift
