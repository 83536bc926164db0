#include "codegen/memory/planner.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"

namespace rshift {
namespace {

std::vector<Buffer> RandomBuffers(uint64_t seed, int count, int64_t commands) {
  std::mt19937_64 random(seed);
  std::vector<Buffer> buffers;
  for (int i = 0; i < count; ++i) {
    const int64_t first = static_cast<int64_t>(random() % commands);
    const int64_t life = static_cast<int64_t>(random() % (random() % 5 == 0 ? commands : 4));
    buffers.push_back({.size = static_cast<int64_t>(1 + random() % 5000),
                       .first = first,
                       .last = std::min(first + life, commands - 1)});
  }
  return buffers;
}

TEST(PlanArena, NoBuffersNeedNoArena) {
  const ArenaPlan plan = PlanArena({});
  EXPECT_EQ(plan.arena, 0);
  EXPECT_EQ(plan.lower_bound, 0);
}

TEST(PlanArena, AChainUsesTwoPlacesInTurn) {
  // Command i reads buffer i and writes buffer i + 1.
  std::vector<Buffer> buffers;
  for (int64_t i = 0; i < 10; ++i) buffers.push_back({640, std::max<int64_t>(i - 1, 0), i});
  const ArenaPlan plan = PlanArena(buffers);
  EXPECT_EQ(ValidatePlan(buffers, plan), "");
  EXPECT_EQ(plan.lower_bound, 2 * 640);
  EXPECT_EQ(plan.arena, 2 * 640);
}

TEST(PlanArena, ALifeEndsAfterItsLastCommand) {
  // Both are alive at command 3: one is read there, the other written.
  const std::vector<Buffer> buffers = {{64, 0, 3}, {64, 3, 5}};
  EXPECT_EQ(PlanArena(buffers).arena, 128);
  EXPECT_EQ(PlanArena({{64, 0, 3}, {64, 4, 5}}).arena, 64);
}

TEST(PlanArena, SizesCountInUnitsOf64) {
  const ArenaPlan plan = PlanArena({{1, 0, 0}, {65, 0, 0}});
  EXPECT_EQ(plan.arena, 192);
  EXPECT_EQ(plan.lower_bound, 192);
}

TEST(PlanArena, RandomProblemsGetValidPlansNearTheLowerBound) {
  double worst = 1.0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Buffer> buffers = RandomBuffers(seed, 1 + static_cast<int>(seed % 60), 30);
    const ArenaPlan plan = PlanArena(buffers);
    ASSERT_EQ(ValidatePlan(buffers, plan), "");
    ASSERT_GE(plan.arena, plan.lower_bound);
    worst =
        std::max(worst, static_cast<double>(plan.arena) / static_cast<double>(plan.lower_bound));
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  EXPECT_LT(worst, 1.25);
}

TEST(PlanArena, TheSameInputGivesTheSamePlan) {
  const std::vector<Buffer> buffers = RandomBuffers(5, 150, 60);
  const ArenaPlan a = PlanArena(buffers), b = PlanArena(buffers);
  EXPECT_EQ(a.offsets, b.offsets);
}

// All greedy orders need more than 4 units here; a better order exists.
TEST(PlanArena, TheSearchFindsWhatNoGreedyOrderDoes) {
  int improved = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Buffer> buffers = RandomBuffers(seed, 12, 8);
    const ArenaPlan plan = PlanArena(buffers);
    improved += plan.arena == plan.lower_bound ? 1 : 0;
  }
  EXPECT_GT(improved, 30);
}

TEST(PlanArena, RefusesBuffersWithoutSizeOrLife) {
  EXPECT_THROW(PlanArena({{0, 0, 0}}), Error);
  EXPECT_THROW(PlanArena({{64, 3, 2}}), Error);
}

TEST(ValidatePlan, FindsOverlapMisalignmentAndOverflow) {
  const std::vector<Buffer> buffers = {{100, 0, 2}, {100, 2, 3}};
  EXPECT_EQ(ValidatePlan(buffers, {{0, 128}, 256, 256}), "");
  EXPECT_NE(ValidatePlan(buffers, {{0, 64}, 256, 256}), "");
  EXPECT_NE(ValidatePlan(buffers, {{0, 100}, 256, 256}), "");
  EXPECT_NE(ValidatePlan(buffers, {{0, 192}, 256, 256}), "");
  EXPECT_NE(ValidatePlan(buffers, {{0, -64}, 256, 256}), "");
  EXPECT_NE(ValidatePlan(buffers, {{0}, 256, 256}), "");
}

TEST(ValidatePlan, SeesWhatPairsSee) {
  int overlapping = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Buffer> buffers = RandomBuffers(seed, 1 + static_cast<int>(seed % 20), 30);
    ArenaPlan plan = PlanArena(buffers);
    // Some buffers elsewhere.
    std::mt19937 random(static_cast<uint32_t>(seed));
    for (int64_t& offset : plan.offsets) {
      if (random() % 8 == 0) offset = static_cast<int64_t>(random() % 40) * 64;
    }
    plan.arena += 1 << 20;
    bool overlap = false;
    for (size_t a = 0; a < buffers.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        const bool in_time =
            buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        const bool in_space = plan.offsets[a] < plan.offsets[b] + buffers[b].size &&
                              plan.offsets[b] < plan.offsets[a] + buffers[a].size;
        overlap = overlap || (in_time && in_space);
      }
    }
    EXPECT_EQ(ValidatePlan(buffers, plan) != "", overlap);
    overlapping += overlap ? 1 : 0;
  }
  EXPECT_GT(overlapping, 50);
  EXPECT_LT(overlapping, 350);
}

// An observable program of an unrolled LSTM: pairs of them would be hundreds of millions.
TEST(PlanArena, ThousandsThatAreAllAliveLieEndToEnd) {
  std::vector<Buffer> buffers;
  int64_t bytes = 0;
  for (int64_t i = 0; i < 30'000; ++i) {
    buffers.push_back({64 * (1 + i % 7), i, 30'000});
    bytes += buffers.back().size;
  }
  const ArenaPlan plan = PlanArena(buffers);
  EXPECT_EQ(plan.arena, bytes);
  EXPECT_EQ(ValidatePlan(buffers, plan), "");
}

}  // namespace
}  // namespace rshift
