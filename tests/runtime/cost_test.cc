#include "runtime/cost.h"

#include <gtest/gtest.h>

namespace rshift {
namespace {

TEST(WorthwhileThreads, EachGetsAtLeastItsShare) {
  EXPECT_EQ(WorthwhileThreads(10, 4, 100), 1);
  EXPECT_EQ(WorthwhileThreads(250, 4, 100), 2);
  EXPECT_EQ(WorthwhileThreads(400, 4, 100), 4);
  EXPECT_EQ(WorthwhileThreads(1e12, 4, 100), 4);
}

TEST(WorthwhileThreads, NoShareAsksForEveryThread) { EXPECT_EQ(WorthwhileThreads(1, 3, 0), 3); }

}  // namespace
}  // namespace rshift
