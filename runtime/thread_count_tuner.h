// How many threads the next inference gets, by what the last ones took. Threads that do not help
// are common: small programs, and machines where other processes keep a core busy, so that a whole
// team waits for the thread that has lost its turn. Results never depend on the number.
#ifndef RSHIFT_RUNTIME_THREAD_COUNT_TUNER_H_
#define RSHIFT_RUNTIME_THREAD_COUNT_TUNER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace rshift {

// Sizes asked for, half of it, and so on down to 1. One is current. The next smaller one is tried
// once near the start, and when the current one was slow three times running (1.6 times its best);
// the next larger one after 16 runs, and after twice as many each time that it does not help, up to
// 512. A trial is one run; it must save a tenth. So a trial that fails costs little, and a single
// slow run changes nothing. Not thread-safe.
class ThreadCountTuner {
 public:
  explicit ThreadCountTuner(int threads);  // at least 1

  // For the next run.
  int threads() const { return levels_[next_].threads; }
  // The run with threads() threads took so long.
  void Took(double nanoseconds);

 private:
  struct Level {
    int threads = 1;
    double least = std::numeric_limits<double>::infinity();
    std::array<double, 3> last = {};  // runs, in a ring
    int64_t runs = 0;

    void Add(double nanoseconds);
    double Typical() const;  // the least of the last ones
  };

  void EndTrial(double nanoseconds);

  std::vector<Level> levels_;  // the largest team first
  size_t current_ = 0, next_ = 0;
  int slow_ = 0;           // runs, the last ones
  int64_t quiet_ = 0;      // runs until a smaller team may be tried again
  int64_t until_up_ = 0;   // runs until a larger team is tried
  int64_t pause_up_ = 16;  // between such trials
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_THREAD_COUNT_TUNER_H_
