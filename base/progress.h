// Progress of a long loop: a bar with ETA on a terminal, a plain line every ten percent otherwise.
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

}  // namespace rshift

#endif  // RSHIFT_BASE_PROGRESS_H_
