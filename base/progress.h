// Progress of a long loop. A program shows it: a bar with rate and ETA on a terminal, as wide as
// fits on its line; otherwise a plain line every ten percent but not more than one a second, and
// one at the end; of fewer than ten steps that alone; on stderr only, so that --json output stays
// clean. A library prints nothing: it tells its caller's ProgressFunction. All thread-safe.
#ifndef RSHIFT_BASE_PROGRESS_H_
#define RSHIFT_BASE_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace rshift {

class Progress {
 public:
  // `quiet` prints nothing at all. `total` may be 0 (nothing to do). `between`: plain lines before
  // the last are that far apart at least.
  Progress(std::string title, int64_t total, bool quiet = false,
           std::chrono::milliseconds between = std::chrono::seconds(1));
  ~Progress();
  void Advance(int64_t steps = 1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a library calls: with done = 0 when a loop of `total` > 0 steps begins, then after each of
// them; by one thread at a time, one loop after the other. A loop that fails is not finished.
using ProgressFunction = std::function<void(const std::string& title, int64_t done, int64_t total)>;

// Tells `listener`, which may be empty, the steps of one loop.
class ProgressReport {
 public:
  ProgressReport(std::string title, int64_t total, ProgressFunction listener);
  void Advance();

 private:
  const std::string title_;
  const int64_t total_;
  const ProgressFunction listener_;
  std::mutex mutex_;
  int64_t done_ = 0;  // guarded by mutex_
};

// Shows every loop as Progress does. The last bar's line ends with it.
ProgressFunction ShowProgress();

// What a terminal of that many columns shows (0: unknown, no bound) after `done` of `total` > 0
// steps: less and less of it the narrower it is, never more than fits on one line.
std::string ProgressLine(const std::string& title, int64_t done, int64_t total, double seconds,
                         int columns);

}  // namespace rshift

#endif  // RSHIFT_BASE_PROGRESS_H_
