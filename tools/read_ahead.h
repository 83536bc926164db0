// Decodes the next samples of a data set while others run.
#ifndef RSHIFT_TOOLS_READ_AHEAD_H_
#define RSHIFT_TOOLS_READ_AHEAD_H_

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "calibrate/data/dataset.h"

namespace rshift {

// Threads of its own read the samples 0, 1, 2, ... of a data set, never more than `window` samples
// before the ones that were taken. Where the system gives no thread, or there is nothing to read
// ahead, Take() reads by itself.
class ReadAhead {
 public:
  // `sample_bytes`: of one decoded sample; it decides how many are kept (32 MiB for each reader, at
  // most 64 samples and at least one).
  ReadAhead(const Dataset& dataset, int readers, int64_t sample_bytes);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The sample of that index, once it is there; throws what reading it threw. Thread-safe. Each
  // index is taken once, and all below it are taken by somebody, now or later.
  Sample Take(int64_t index);

 private:
  struct Slot {
    bool busy = false;  // somebody reads it, or it waits to be taken
    bool full = false;  // it waits to be taken
    Sample sample;
    std::exception_ptr error;
  };

  Slot& SlotOf(int64_t index) { return slots_[static_cast<size_t>(index) % slots_.size()]; }
  void Work();

  const Dataset& dataset_;
  const int64_t size_;
  std::mutex mutex_;
  std::condition_variable ready_, space_;
  // Below: guarded by mutex_.
  std::vector<Slot> slots_;  // sample i has the slot i modulo their number
  int64_t next_ = 0;         // the first sample nobody has begun to read
  int64_t taken_ = 0;        // how many were taken
  bool stopped_ = false;
  std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_READ_AHEAD_H_
