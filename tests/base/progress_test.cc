#include "base/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace rshift {
namespace {

// Standard error is captured into a file here: never a terminal.
std::string Report(int64_t total, int64_t steps, bool quiet = false,
                   std::chrono::milliseconds between = std::chrono::milliseconds(0)) {
  testing::internal::CaptureStderr();
  {
    Progress progress("reading", total, quiet, between);
    for (int64_t i = 0; i < steps; ++i) progress.Advance();
  }
  return testing::internal::GetCapturedStderr();
}

int64_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(ProgressTest, PrintsOneLineEveryTenPercent) {
  const std::string text = Report(1000, 1000);
  EXPECT_EQ(Lines(text), 10) << text;
  const std::regex lines(R"((reading: \d+% \(\d+/1000\), [0-9.]+/s, (ETA )?0:00\n){10})");
  EXPECT_TRUE(std::regex_match(text, lines)) << text;
  EXPECT_EQ(text.rfind("reading: 10% (100/1000), ", 0), 0u) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(ProgressTest, FewStepsPrintTheLastAlone) {
  for (const int64_t steps : {1, 4, 9}) {
    const std::string text = Report(steps, steps);
    EXPECT_EQ(Lines(text), 1) << text;
    EXPECT_NE(text.find("100%"), std::string::npos) << text;
    EXPECT_EQ(Report(steps, steps - 1), "");
  }
}

TEST(ProgressTest, ShortLoopsPrintTheLastAlone) {
  const std::string text = Report(1000, 1000, false, std::chrono::hours(1));
  EXPECT_EQ(Lines(text), 1) << text;
  EXPECT_NE(text.find("100% (1000/1000)"), std::string::npos) << text;
  EXPECT_EQ(Report(1000, 999, false, std::chrono::hours(1)), "");
}

TEST(ProgressTest, StopsWhereTheWorkStopped) { EXPECT_EQ(Lines(Report(1000, 250)), 2); }

TEST(ProgressTest, QuietAndEmptyPrintNothing) {
  EXPECT_EQ(Report(100, 100, true), "");
  EXPECT_EQ(Report(0, 0), "");
  EXPECT_EQ(Report(0, 5), "");
}

TEST(ProgressTest, MoreStepsThanAnnouncedStayAtHundredPercent) {
  const std::string text = Report(10, 15);
  EXPECT_EQ(Lines(text), 10) << text;
  EXPECT_EQ(text.find("(11/10)"), std::string::npos);
}

TEST(ProgressTest, NeverWiderThanTheTerminal) {
  for (int columns = 1; columns <= 200; ++columns) {
    for (const int64_t done : {int64_t{0}, int64_t{1}, int64_t{123456}, int64_t{9999999}}) {
      const std::string line = ProgressLine("calibrating", done, 9999999, 3600.5, columns);
      EXPECT_LT(static_cast<int>(line.size()), columns) << line;
    }
  }
}

TEST(ProgressTest, TellsRateAndTimeWhereThereIsRoom) {
  const auto line = [](int columns) { return ProgressLine("reading", 25, 100, 10, columns); };
  EXPECT_EQ(line(0), "reading [#######-----------------------] 25% (25/100), 2.5/s, ETA 0:30");
  EXPECT_EQ(line(120), line(0));
  EXPECT_EQ(line(50), "reading [##-------] 25% (25/100), 2.5/s, ETA 0:30");
  EXPECT_EQ(line(44), "reading 25% (25/100), 2.5/s, ETA 0:30");
  EXPECT_EQ(line(35), "reading 25% (25/100), ETA 0:30");
  EXPECT_EQ(line(25), "25% (25/100), ETA 0:30");
  EXPECT_EQ(line(10), "25%");
  EXPECT_EQ(line(2), "");
  EXPECT_EQ(ProgressLine("r", 100, 100, 61, 80),
            "r [##############################] 100% (100/100), 1.6/s, 1:01");
  EXPECT_EQ(ProgressLine("r", 0, 100, 5, 30), "r [-------] 0% (0/100), ETA -");
}

TEST(ProgressTest, ThreadsMayAdvanceTogether) {
  testing::internal::CaptureStderr();
  {
    Progress progress("reading", 4000, false, std::chrono::milliseconds(0));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&progress] {
        for (int i = 0; i < 1000; ++i) progress.Advance();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(Lines(text), 10) << text;
  EXPECT_NE(text.find("(4000/4000)"), std::string::npos) << text;
}

}  // namespace
}  // namespace rshift
