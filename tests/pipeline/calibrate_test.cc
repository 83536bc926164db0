#include "pipeline/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "pipeline/usage.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"
#include "tests/pipeline/little_model.h"

namespace rshift::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CalibrateOptions Options(int samples) {
  CalibrateOptions options{.model = {"little.onnx", LittleModel()}};
  options.data = LittleSamples(samples);
  return options;
}

TEST(CalibrateTest, ShardsInMemoryGiveTheTableOfTheWhole) {
  CalibrateOptions options = Options(9);
  options.threads = 2;
  const std::string whole = WriteTable(Calibrate(options).table);
  CalibrateOptions merged{.model = options.model};
  for (const char* shard : {"0/2", "1/2"}) {
    options.shard = shard;
    merged.statistics.push_back({shard, Calibrate(options).statistics});
  }
  EXPECT_EQ(WriteTable(Calibrate(merged).table), whole);
  merged.statistics.pop_back();
  EXPECT_THAT(ErrorOf([&] { Calibrate(merged); }),
              HasSubstr("shard 1/2 of the same samples is missing"));
}

TEST(CalibrateTest, NothingIsPrintedAndTheCallerHearsEveryStep) {
  std::vector<int64_t> steps;
  bool measuring = false;
  CalibrateEvents events;
  events.measuring = [&] { measuring = true; };
  events.progress = [&](const std::string& title, int64_t done, int64_t total) {
    EXPECT_TRUE(measuring);
    EXPECT_EQ(title, "calibrating");
    EXPECT_EQ(total, 3);
    steps.push_back(done);
  };
  CalibrateOptions options = Options(3);
  options.threads = 2;
  options.equalize = "off";  // which would measure before
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Calibrate(options, events);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(steps, ElementsAre(0, 1, 2, 3));
}

TEST(CalibrateTest, AnInterruptedRunIsResumedToTheSameTable) {
  const TemporaryFolder folder;
  CalibrateOptions options = Options(7);
  options.threads = 1;
  options.equalize = "off";  // which would ask before the first sample
  const std::string whole = WriteTable(Calibrate(options).table);
  options.checkpoint = folder / "little.partial.stats";
  int asked = 0;
  CalibrateEvents events;
  events.interrupted = [&] { return ++asked > 3; };
  EXPECT_THAT(ErrorOf([&] { Calibrate(options, events); }),
              HasSubstr("carry on with --resume (3 of 7 samples are done)"));
  options.resume = true;
  EXPECT_EQ(WriteTable(Calibrate(options).table), whole);
}

TEST(CalibrateTest, WhatTheCallersFunctionsThrowReachesTheCaller) {
  CalibrateOptions options = Options(7);
  options.threads = 2;
  for (const bool by_progress : {false, true}) {
    std::atomic<int> asked = 0;
    CalibrateEvents events;
    const auto give_up = [&] {
      if (++asked > 3) Fail(ErrorCode::kIo, "the caller gives up");
    };
    if (by_progress)
      events.progress = [&](const std::string&, int64_t, int64_t) { give_up(); };
    else
      events.interrupted = [&] { return give_up(), false; };
    EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { Calibrate(options, events); }), "the caller gives up");
  }
}

TEST(CalibrateTest, SamplesInMemoryMustBeFinite) {
  CalibrateOptions options = Options(3);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF}) {
    options.data[1].inputs[0][5] = bad;
    EXPECT_THAT(ErrorOf([&] { Calibrate(options); }),
                HasSubstr("sample 'sample 1', input 'x': element 5 is "));
  }
}

std::string UsageErrorOf(const CalibrateOptions& options) {
  return ErrorOf<UsageError>([&] { CheckOptions(options); });
}

TEST(CalibrateTest, OptionsThatWouldBeIgnoredAreWrongUsage) {
  const CalibrateOptions good = Options(1);
  EXPECT_EQ(UsageErrorOf(good), kNoError);
  CalibrateOptions options = good;
  options.partial = true;
  EXPECT_EQ(UsageErrorOf(options), "--partial needs --from-statistics");
  options = good;
  options.resume = true;
  EXPECT_EQ(UsageErrorOf(options), "--resume needs a checkpoint");
  options = good;
  options.threads = -1;
  EXPECT_EQ(UsageErrorOf(options),
            "--threads -1: expected 0 (OMP_NUM_THREADS, else as many as the CPU has) or more");
  for (const double percentile : {40.0, 100.5, std::nan("")}) {
    options = good;  // the method is kl
    options.method.percentile = percentile;
    EXPECT_THAT(UsageErrorOf(options), HasSubstr("expected more than 50 and at most 100"));
  }
}

TEST(CalibrateTest, StatisticsStandAlone) {
  CalibrateOptions good{.model = {"little.onnx", LittleModel()}};
  good.statistics.push_back({"a.stats"});
  EXPECT_EQ(UsageErrorOf(good), kNoError);
  using Change = void (*)(CalibrateOptions&);
  const std::pair<const char*, Change> changes[] = {
      {"--preprocess", [](CalibrateOptions& o) { o.preprocess.mean = "1"; }},
      {"--samples", [](CalibrateOptions& o) { o.samples = 5; }},
      {"--seed", [](CalibrateOptions& o) { o.seed = 1; }},
      {"--shard", [](CalibrateOptions& o) { o.shard = "0/2"; }},
      {"--threads", [](CalibrateOptions& o) { o.threads = 1; }},
      {"a checkpoint", [](CalibrateOptions& o) { o.checkpoint = "c.stats"; }}};
  for (const auto& [name, change] : changes) {
    CalibrateOptions options = good;
    change(options);
    EXPECT_EQ(UsageErrorOf(options),
              std::string(name) + " has no meaning with --from-statistics: leave it out");
  }
}

TEST(CalibrateTest, TwoSourcesOfSamplesAreWrongUsage) {
  CalibrateOptions options = Options(1);
  options.dataset = {"photos"};
  EXPECT_THROW(Calibrate(options), UsageError);
  options = Options(1);
  options.method = {Method::kPercentile, 40};
  EXPECT_THROW(CheckOptions(options), UsageError);
}

}  // namespace
}  // namespace rshift::test
