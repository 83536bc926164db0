#include "calibrate/shared_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/calibrate/random_statistics.h"

namespace rshift {
namespace {

constexpr unsigned kSeed = 23;
constexpr int kSamples = 48;

// A large tensor and a small one are observed; the third holds the elements of both, the small
// one's twice.
class SharedStatisticsTest : public ::testing::Test {
 protected:
  SharedStatisticsTest() {
    plan_.names = {"large", "small", "joined"};
    plan_.rules.resize(3);
    plan_.derived = {{2, {0, 1, 1}}};
    std::mt19937 random(kSeed);
    for (int i = 0; i < kSamples; ++i)
      samples_.push_back({RandomValues(random, 9000), RandomValues(random, 100)});
  }

  StatisticsFile Empty3() const {
    return {"m", 1, "", {}, {}, {Empty("large"), Empty("small"), Empty("joined")}};
  }

  RecordedSample Recorded(int sample) const {
    return {Cat("hash ", 1000 - sample), Cat("sample ", sample), {{"x", {"file"}, sample}}};
  }

  // The tensors of one sample. `counter` and `memories` are the thread's own.
  void AddTensors(int sample, SharedStatistics::Addition& addition, TensorCounter& counter,
                  std::vector<TensorMemory>& memories) const {
    for (const int tensor : {0, 1}) {
      const auto i = static_cast<size_t>(tensor);
      counter.Count(samples_[static_cast<size_t>(sample)][i], {}, plan_.names[i], "s", memories[i]);
      addition.Add(tensor, counter, Recorded(sample), memories[i]);
    }
    addition.AddPeak(2, 1.5f);
  }

  std::vector<uint8_t> Measure(int threads) const {
    StatisticsFile total = Empty3();
    SharedStatistics shared(plan_, total);
    const auto work = [&](int first) {
      TensorCounter counter;
      std::vector<TensorMemory> memories(2);
      for (int sample = first; sample < kSamples; sample += threads) {
        SharedStatistics::Addition addition(shared);
        AddTensors(sample, addition, counter, memories);
        addition.Finish(Recorded(sample));
      }
    };
    std::vector<std::thread> running;
    running.reserve(static_cast<size_t>(threads));
    for (int i = 0; i < threads; ++i) running.emplace_back(work, i);
    int uses = 0;
    // In the middle of the work: whole samples only, whatever their number.
    for (int i = 0; i < 5; ++i) {
      shared.UseWhole([&] {
        ++uses;
        EXPECT_EQ(total.tensors[0].count, 9000 * total.samples.size());
        EXPECT_EQ(total.tensors[1].count, 100 * total.samples.size());
        EXPECT_EQ(total.tensors[2].count, 9200 * total.samples.size());
      });
    }
    for (std::thread& thread : running) thread.join();
    shared.UseWhole([&] { ++uses; });
    EXPECT_EQ(uses, 6);
    return WriteStatistics(total);
  }

  ObservationPlan plan_;
  std::vector<std::vector<std::vector<float>>> samples_;
};

TEST_F(SharedStatisticsTest, ThreadsAndUsesInBetweenDoNotMatter) {
  StatisticsFile expected = Empty3();
  for (int sample = 0; sample < kSamples; ++sample) {
    const RecordedSample recorded = Recorded(sample);
    for (const size_t tensor : {0, 1}) {
      TensorStatistics one = Empty("");
      Add(one, samples_[static_cast<size_t>(sample)][tensor], "s");
      one.min_sample = one.max_sample = recorded;
      Merge(expected.tensors[tensor], one);
      MergePart(expected.tensors[2], one);
      if (tensor == 1) MergePart(expected.tensors[2], one);
    }
    ++expected.tensors[2].peaks[PeakBin(1.5f)];
    expected.samples.emplace_back(recorded.sha256, recorded.name);
    expected.recorded.push_back(recorded);
  }
  std::sort(expected.samples.begin(), expected.samples.end());
  KeepLowest(expected.recorded);
  const std::vector<uint8_t> bytes = WriteStatistics(expected);
  for (const int threads : {1, 2, 5}) EXPECT_EQ(Measure(threads), bytes) << threads << " threads";
}

// A sample that ends in the middle leaves a part of its values: nobody may save that.
TEST_F(SharedStatisticsTest, NobodyUsesAPartOfASample) {
  StatisticsFile total = Empty3();
  SharedStatistics shared(plan_, total);
  TensorCounter counter;
  std::vector<TensorMemory> memories(2);
  int uses = 0;
  for (const bool whole : {true, false, true}) {
    SharedStatistics::Addition addition(shared);
    AddTensors(0, addition, counter, memories);
    if (whole) addition.Finish(Recorded(0));
  }
  shared.UseWhole([&] { ++uses; });
  EXPECT_EQ(uses, 0);
}

}  // namespace
}  // namespace rshift
