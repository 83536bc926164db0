#include "tools/streams.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>
#include <string>
#include <thread>

namespace rshift {
namespace {

TEST(OnStreams, EachRunsOnceAndMayWaitForTheOthers) {
  std::barrier all(5);
  std::vector<std::atomic<int>> calls(5);
  OnStreams(5, [&](int stream) {
    all.arrive_and_wait();  // would hang if a stream began only after another's end
    ++calls[static_cast<size_t>(stream)];
  });
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
}

TEST(OnStreams, OneIsTheCaller) {
  std::thread::id id;
  OnStreams(1, [&](int) { id = std::this_thread::get_id(); });
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(OnStreams, TheLowestStreamsErrorIsRethrownAfterAllAreDone) {
  std::atomic<int> done{0};
  try {
    OnStreams(4, [&](int stream) {
      ++done;
      if (stream % 2 == 1) throw std::runtime_error(std::to_string(stream));
    });
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "1");
  }
  EXPECT_EQ(done, 4);
}

TEST(InOrder, CommitsComeInOrderWhateverTheStreams) {
  for (const int streams : {1, 2, 7}) {
    std::vector<int64_t> order;
    std::atomic<int> calls{0};
    InOrder(streams, 200, [&](int, int64_t i) -> Commit {
      ++calls;
      if (i % 3 == 0) std::this_thread::yield();
      return [&order, i] { order.push_back(i); };
    });
    ASSERT_EQ(order.size(), 200u);
    EXPECT_EQ(calls, 200);
    for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  }
}

TEST(InOrder, NothingToDo) {
  InOrder(3, 0, [](int, int64_t) -> Commit { throw std::runtime_error("called"); });
}

// Whether the work or its commit fails: the lowest index wins, and what came before it is there.
TEST(InOrder, TheFirstErrorByIndexEndsTheRun) {
  for (const bool at_commit : {false, true}) {
    for (const int streams : {1, 2, 7}) {
      std::vector<int64_t> order;
      try {
        InOrder(streams, 100, [&](int, int64_t i) -> Commit {
          const bool bad = i == 41 || i == 42 || i == 44;
          if (bad && !at_commit) throw std::runtime_error(std::to_string(i));
          return [&order, i, bad] {
            if (bad) throw std::runtime_error(std::to_string(i));
            order.push_back(i);
          };
        });
        FAIL() << "no error";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), "41");
      }
      EXPECT_EQ(order.size(), 41u);
    }
  }
}

}  // namespace
}  // namespace rshift
