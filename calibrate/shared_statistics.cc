#include "calibrate/shared_statistics.h"

#include <algorithm>
#include <utility>

namespace rshift {

SharedStatistics::Addition::Addition(SharedStatistics& to) : to_(to) {
  std::unique_lock lock(to_.mutex_);
  to_.changed_.wait(lock, [&] { return !to_.using_; });
  ++to_.adding_;
}

SharedStatistics::Addition::~Addition() {
  const std::lock_guard lock(to_.mutex_);
  if (added_ && !finished_) to_.failed_ = true;
  --to_.adding_;
  to_.changed_.notify_all();
}

void SharedStatistics::Addition::Add(int statistic, TensorCounter& counter,
                                     const RecordedSample& sample, TensorMemory& memory) {
  added_ = true;
  const auto i = static_cast<size_t>(statistic);
  const std::lock_guard lock(to_.tensors_[i]);
  counter.AddTo(to_.total_.tensors[i], sample, memory);
}

void SharedStatistics::Addition::AddPeak(int statistic, float peak) {
  added_ = true;
  const auto i = static_cast<size_t>(statistic);
  const std::lock_guard lock(to_.tensors_[i]);
  ++to_.total_.tensors[i].peaks[PeakBin(peak)];
}

void SharedStatistics::Addition::Finish(RecordedSample sample) {
  const std::lock_guard lock(to_.mutex_);
  to_.total_.samples.emplace_back(sample.sha256, sample.name);
  if (!sample.sources.empty()) {
    to_.total_.recorded.push_back(std::move(sample));
    KeepLowest(to_.total_.recorded);
  }
  finished_ = true;
}

void SharedStatistics::UseWhole(const std::function<void()>& use) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !using_; });
  using_ = true;
  changed_.wait(lock, [this] { return adding_ == 0; });
  struct Reopen {
    SharedStatistics& shared;
    ~Reopen() {
      shared.using_ = false;
      shared.changed_.notify_all();
    }
  } reopen{*this};
  if (failed_) return;
  Complete();
  use();
}

void SharedStatistics::Complete() {
  for (const DerivedStatistic& derived : plan_.derived) {
    TensorStatistics& into = total_.tensors[static_cast<size_t>(derived.statistic)];
    TensorStatistics whole;
    whole.name = std::move(into.name);
    whole.peaks = std::move(into.peaks);
    into = std::move(whole);
    for (const int source : derived.sources)
      MergePart(into, total_.tensors[static_cast<size_t>(source)]);
  }
  std::sort(total_.samples.begin(), total_.samples.end());
}

}  // namespace rshift
