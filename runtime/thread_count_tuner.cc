#include "runtime/thread_count_tuner.h"

#include <algorithm>

namespace rshift {
namespace {

constexpr int64_t kFirstTrial = 3;  // the runs before it fill caches and wake threads
constexpr double kSlow = 1.6;       // times the best
constexpr int kSlowRuns = 3;
constexpr double kSaves = 0.9;
constexpr int64_t kQuiet = 64, kFirstPause = 16, kLongestPause = 512;

}  // namespace

ThreadCountTuner::ThreadCountTuner(int threads) {
  for (int size = threads; size >= 1; size /= 2) levels_.push_back({.threads = size});
}

void ThreadCountTuner::Level::Add(double nanoseconds) {
  last[static_cast<size_t>(runs++) % last.size()] = nanoseconds;
  least = std::min(least, nanoseconds);
}

double ThreadCountTuner::Level::Typical() const {
  const auto filled = std::min<int64_t>(runs, static_cast<int64_t>(last.size()));
  return *std::min_element(last.begin(), last.begin() + filled);
}

void ThreadCountTuner::EndTrial(double nanoseconds) {
  const bool up = next_ < current_, helps = nanoseconds < kSaves * levels_[current_].Typical();
  if (helps) current_ = next_;
  next_ = current_;
  quiet_ = kQuiet;
  slow_ = 0;
  pause_up_ = helps || !up ? kFirstPause : std::min(2 * pause_up_, kLongestPause);
  until_up_ = pause_up_;
}

void ThreadCountTuner::Took(double nanoseconds) {
  levels_[next_].Add(nanoseconds);
  if (next_ != current_) return EndTrial(nanoseconds);
  const Level& level = levels_[current_];
  slow_ = nanoseconds > kSlow * level.least ? slow_ + 1 : 0;
  quiet_ = std::max<int64_t>(quiet_ - 1, 0);
  const bool is_slow = slow_ >= kSlowRuns && quiet_ == 0;
  if (current_ + 1 < levels_.size() && (level.runs == kFirstTrial || is_slow)) {
    next_ = current_ + 1;
  } else if (current_ > 0 && --until_up_ <= 0) {
    next_ = current_ - 1;
  }
}

}  // namespace rshift
