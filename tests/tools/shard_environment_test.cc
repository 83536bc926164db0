#include "tools/shard_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "pipeline/usage.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

std::string Resolve(const std::string& shard, const Variables& variables) {
  const auto look = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  try {
    return ResolveShard(shard, look);
  } catch (const UsageError& error) {
    return error.what();
  }
}

Variables Array(const char* id, const char* first, const char* last, const char* count,
                const char* step) {
  return {{"SLURM_ARRAY_TASK_ID", id},
          {"SLURM_ARRAY_TASK_MIN", first},
          {"SLURM_ARRAY_TASK_MAX", last},
          {"SLURM_ARRAY_TASK_COUNT", count},
          {"SLURM_ARRAY_TASK_STEP", step}};
}

TEST(ShardEnvironmentTest, WhatIsGivenStays) {
  EXPECT_EQ(Resolve("2/5", Array("3", "0", "7", "8", "1")), "2/5");
  EXPECT_EQ(Resolve("", {}), "");
}

TEST(ShardEnvironmentTest, SlurmArrays) {
  EXPECT_EQ(Resolve("auto", Array("3", "0", "7", "8", "1")), "3/8");
  EXPECT_EQ(Resolve("auto", Array("8", "1", "8", "8", "1")), "7/8");
  EXPECT_EQ(Resolve("auto", Array("5", "1", "15", "8", "2")), "2/8");
  EXPECT_EQ(Resolve("auto/8", Array("5", "1", "15", "8", "2")), "2/8");
  EXPECT_THAT(Resolve("auto", Array("7", "1", "7", "3", "1")), HasSubstr("without gaps"));
  EXPECT_THAT(Resolve("auto/4", Array("3", "0", "7", "8", "1")), HasSubstr("is one of 8"));
}

TEST(ShardEnvironmentTest, EveryTaskOfAnArrayTakesAnotherShare) {
  for (int64_t task = 0; task < 6; ++task) {
    const std::string id = std::to_string(10 + 3 * task);
    EXPECT_EQ(Resolve("auto", Array(id.c_str(), "10", "25", "6", "3")),
              std::to_string(task) + "/6");
  }
}

TEST(ShardEnvironmentTest, Ranks) {
  EXPECT_EQ(Resolve("auto", {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}}), "2/3");
  EXPECT_EQ(Resolve("auto", {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), "0/2");
  const Variables batch = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
  EXPECT_THAT(Resolve("auto", batch), HasSubstr("give --shard I/N"));
  Variables rank = batch;
  rank["SLURM_STEP_ID"] = "0";
  rank["SLURM_PROCID"] = "3";
  EXPECT_EQ(Resolve("auto", rank), "3/4");
}

TEST(ShardEnvironmentTest, IndexedJobsNeedTheirNumber) {
  EXPECT_EQ(Resolve("auto/4", {{"JOB_COMPLETION_INDEX", "3"}}), "3/4");
  EXPECT_THAT(Resolve("auto", {{"JOB_COMPLETION_INDEX", "3"}}), HasSubstr("give --shard auto/N"));
  EXPECT_THAT(Resolve("auto/3", {{"JOB_COMPLETION_INDEX", "3"}}),
              HasSubstr("share 3 (from 0) of 3"));
  EXPECT_EQ(Resolve("auto/4", {{"PARALLEL_SEQ", "1"}}), "0/4");
}

TEST(ShardEnvironmentTest, WhatIsUnclearIsRefused) {
  Variables both = Array("3", "0", "7", "8", "1");
  both["OMPI_COMM_WORLD_RANK"] = "1";
  both["OMPI_COMM_WORLD_SIZE"] = "2";
  EXPECT_THAT(Resolve("auto", both),
              HasSubstr("both SLURM_ARRAY_TASK_ID and OMPI_COMM_WORLD_RANK are set"));
  EXPECT_THAT(Resolve("auto", {{"JOB_COMPLETION_INDEX", "x"}}),
              HasSubstr("is 'x', expected a number"));
  EXPECT_THAT(Resolve("auto", {{"JOB_COMPLETION_INDEX", "-1"}}), HasSubstr("is '-1'"));
  for (const char* bad : {"auto/", "auto/0", "auto/x", "auto/3x"})
    EXPECT_THAT(Resolve(bad, {{"JOB_COMPLETION_INDEX", "0"}}), HasSubstr("expected auto")) << bad;
}

}  // namespace
}  // namespace rshift
