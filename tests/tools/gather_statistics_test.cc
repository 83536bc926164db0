#include "tools/gather_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace rshift {
namespace {

// Ranks as threads: what one sends to another waits in a queue.
class Post {
 public:
  void Put(std::pair<int, int> way, std::span<const uint8_t> bytes) {
    const std::lock_guard lock(mutex_);
    queues_[way].emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  std::vector<uint8_t> Get(std::pair<int, int> way) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !queues_[way].empty(); });
    std::vector<uint8_t> bytes = std::move(queues_[way].front());
    queues_[way].pop_front();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<std::vector<uint8_t>>> queues_;
};

class ThreadGroup : public MpiGroup {
 public:
  ThreadGroup(Post& post, int rank, int size) : post_(post), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void Send(int to, std::span<const uint8_t> bytes) override { post_.Put({rank_, to}, bytes); }
  std::vector<uint8_t> Receive(int from) override { return post_.Get({from, rank_}); }

 private:
  Post& post_;
  int rank_, size_;
};

StatisticsFile PartOf(int rank, int size) {
  TensorStatistics tensor;
  tensor.name = "t";
  const auto value = static_cast<float>(rank + 1);
  Add(tensor, std::vector<float>{value, -value, 0}, "s");
  const std::string sample = Cat("sample ", rank);
  StatisticsFile file{"model", 1, "", {}, {{sample, sample}}, {tensor}, {}, {}};
  if (size > 1) file.shards = {{"set", static_cast<uint32_t>(size), static_cast<uint32_t>(rank)}};
  return file;
}

struct Ended {
  std::vector<int> codes;
  std::vector<uint8_t> bytes;  // of rank 0's statistics
  std::string error;           // that rank 0 threw
};

// `failing`: ranks that cannot measure. `last`: what rank 0's work gives; below 0: it throws.
Ended RunRanks(int size, const std::vector<int>& failing, int last) {
  Post post;
  Ended ended{std::vector<int>(static_cast<size_t>(size)), {}, ""};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      ThreadGroup group(post, rank, size);
      const auto measure = [&] {
        if (std::find(failing.begin(), failing.end(), rank) != failing.end())
          Fail(ErrorCode::kInvalidInput, "rank ", rank, " failed");
        return PartOf(rank, size);
      };
      int& code = ended.codes[static_cast<size_t>(rank)];
      if (rank != 0) {
        EXPECT_FALSE(GatherStatistics(group, measure).has_value());
      }
      try {
        code = FinishInGroup(group, [&] {
          ended.bytes = WriteStatistics(*GatherStatistics(group, measure));
          if (last < 0) Fail(ErrorCode::kIo, "disk full");
          return last;
        });
      } catch (const Error& error) {
        code = 1;
        ended.error = error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return ended;
}

TEST(GatherStatisticsTest, AnyNumberOfRanksGivesWhatOneMergeGives) {
  for (int size = 1; size <= 9; ++size) {
    StatisticsFile whole = PartOf(0, size);
    for (int rank = 1; rank < size; ++rank) Merge(whole, PartOf(rank, size));
    const Ended ended = RunRanks(size, {}, 0);
    EXPECT_EQ(ended.bytes, WriteStatistics(whole)) << size;
    EXPECT_THAT(ended.codes, ::testing::Each(0));
  }
}

TEST(GatherStatisticsTest, TheLowestRanksErrorIsRankZeros) {
  for (const auto& failing : {std::vector<int>{6, 3}, {3, 4}, {3}}) {
    const Ended ended = RunRanks(7, failing, 0);
    EXPECT_EQ(ended.error, "rank 3 failed");
    EXPECT_THAT(ended.codes, ::testing::Each(1));
  }
  EXPECT_EQ(RunRanks(4, {0, 1}, 0).error, "rank 0 failed");
}

TEST(GatherStatisticsTest, AllRanksEndAsRankZeroDoes) {
  const Ended ended = RunRanks(3, {}, -1);
  EXPECT_EQ(ended.error, "disk full");
  EXPECT_THAT(ended.codes, ::testing::Each(1));
}

TEST(MpiRanksTest, AreWhatMpirunSays) {
  const auto ranks = [](const char* name, const char* value) {
    return MpiRanks([=](const char* asked) {
      return std::string(asked) == name ? value : static_cast<const char*>(nullptr);
    });
  };
  EXPECT_EQ(ranks("OMPI_COMM_WORLD_SIZE", "4"), 4);
  EXPECT_EQ(ranks("PMI_SIZE", "2"), 2);
  EXPECT_EQ(ranks("PMI_SIZE", "x"), 1);
  EXPECT_EQ(ranks("SLURM_NTASKS", "8"), 1);
}

}  // namespace
}  // namespace rshift
