#include "runtime/thread_count_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace rshift {
namespace {

// The share of `runs` that had `threads` threads, when a run takes cost(threads, run).
double Share(ThreadCountTuner* tuner, int threads, int runs,
             const std::function<double(int threads, int run)>& cost) {
  int with = 0;
  for (int run = 0; run < runs; ++run) {
    with += tuner->threads() == threads ? 1 : 0;
    tuner->Took(cost(tuner->threads(), run));
  }
  return static_cast<double>(with) / runs;
}

double Divided(int threads, int) { return 1000.0 / threads; }
double Contended(int threads, int) { return threads == 1 ? 1000.0 : 5000.0; }

TEST(ThreadCountTuner, StaysWithATeamThatHelps) {
  ThreadCountTuner tuner(2);
  EXPECT_EQ(tuner.threads(), 2);
  EXPECT_GE(Share(&tuner, 2, 1000, Divided), 0.998);
}

TEST(ThreadCountTuner, LeavesATeamThatDoesNotHelp) {
  ThreadCountTuner tuner(2);
  const auto cost = [](int threads, int) { return threads == 1 ? 100.0 : 130.0; };
  EXPECT_GE(Share(&tuner, 1, 1000, cost), 0.98);
}

// Every tenth run takes ten times as long, whatever its threads.
TEST(ThreadCountTuner, SingleSlowRunsChangeNothing) {
  ThreadCountTuner tuner(2);
  const auto cost = [](int threads, int run) {
    return Divided(threads, run) * (run % 10 == 9 ? 10 : 1);
  };
  EXPECT_GE(Share(&tuner, 2, 1000, cost), 0.99);
}

TEST(ThreadCountTuner, AvoidsABusyMachineAndComesBack) {
  ThreadCountTuner tuner(2);
  EXPECT_GE(Share(&tuner, 2, 100, Divided), 0.98);
  EXPECT_GE(Share(&tuner, 1, 1000, Contended), 0.98);
  // Trials have become rare by now; the pause before the next one is at most 512 runs.
  Share(&tuner, 1, 513, Divided);
  EXPECT_GE(Share(&tuner, 2, 1000, Divided), 0.98);
}

TEST(ThreadCountTuner, FindsTheSizeBetween) {
  ThreadCountTuner tuner(8);
  const auto cost = [](int threads, int) {
    return threads > 2 ? 600.0 + 40.0 * threads : 1000.0 / threads;
  };
  EXPECT_GE(Share(&tuner, 2, 1000, cost), 0.9);
}

TEST(ThreadCountTuner, OneThreadIsOneThread) {
  ThreadCountTuner tuner(1);
  EXPECT_EQ(Share(&tuner, 1, 100, Contended), 1.0);
}

}  // namespace
}  // namespace rshift
