#include "runtime/barrier.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace rshift {
namespace {

// Plain memory, written before and read after each meeting: a data race if the barrier leaks.
void Meet(int threads, int rounds) {
  Barrier barrier;
  std::vector<int> written(static_cast<size_t>(threads));
  std::vector<int> wrong(static_cast<size_t>(threads));
  const auto member = [&](size_t self) {
    for (int round = 1; round <= rounds; ++round) {
      written[self] = round;
      barrier.Wait(threads);
      for (const int value : written) wrong[self] += value != round;
      barrier.Wait(threads);
    }
  };
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) team.emplace_back(member, static_cast<size_t>(i));
  for (std::thread& thread : team) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST(Barrier, EveryThreadSeesWhatAllWroteBefore) { Meet(2, 20000); }

TEST(Barrier, WorksWithMoreThreadsThanCpus) {
  Meet(static_cast<int>(2 * std::thread::hardware_concurrency() + 3), 300);
}

TEST(Barrier, OneThreadPasses) { Meet(1, 100); }

}  // namespace
}  // namespace rshift
