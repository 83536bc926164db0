// Progress of a long loop: a bar with rate and ETA on a terminal, as wide as fits on its line; a
// plain line every ten percent otherwise.
// Writes to stderr only, so that --json output stays clean. Thread-safe.
#ifndef RSHIFT_BASE_PROGRESS_H_
#define RSHIFT_BASE_PROGRESS_H_

#include <cstdint>
#include <memory>
#include <string>

namespace rshift {

class Progress {
 public:
  // `quiet` prints nothing at all. `total` may be 0 (nothing to do).
  Progress(std::string title, int64_t total, bool quiet = false);
  ~Progress();
  void Advance(int64_t steps = 1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a terminal of that many columns shows (0: unknown, no bound) after `done` of `total` > 0
// steps: less and less of it the narrower it is, never more than fits on one line.
std::string ProgressLine(const std::string& title, int64_t done, int64_t total, double seconds,
                         int columns);

}  // namespace rshift

#endif  // RSHIFT_BASE_PROGRESS_H_
