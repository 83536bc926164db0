#include "base/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace rshift {
namespace {

// Standard error is captured into a file here: never a terminal.
std::string Report(int64_t total, int64_t steps, bool quiet = false) {
  testing::internal::CaptureStderr();
  {
    Progress progress("reading", total, quiet);
    for (int64_t i = 0; i < steps; ++i) progress.Advance();
  }
  return testing::internal::GetCapturedStderr();
}

int64_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(ProgressTest, PrintsOneLineEveryTenPercent) {
  const std::string text = Report(1000, 1000);
  EXPECT_EQ(Lines(text), 10) << text;
  EXPECT_EQ(text.rfind("reading: 10% (100/1000), ETA 0:00\n", 0), 0u) << text;
  EXPECT_NE(text.find("reading: 100% (1000/1000), 0:00\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(ProgressTest, FewStepsPrintOneLineEach) { EXPECT_EQ(Lines(Report(3, 3)), 3); }

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

TEST(ProgressTest, ThreadsMayAdvanceTogether) {
  testing::internal::CaptureStderr();
  {
    Progress progress("reading", 4000);
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
