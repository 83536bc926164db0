// Hands the samples of a run to its workers, in ascending order, while a thread of its own reads
// the next ones. A worker that finds none read already reads one itself, so that nobody waits for
// that thread. Not for use outside calibrate/.
#ifndef RSHIFT_CALIBRATE_SAMPLE_QUEUE_H_
#define RSHIFT_CALIBRATE_SAMPLE_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "calibrate/data/dataset.h"

namespace rshift {

struct NextSample {
  size_t place = 0;   // among the samples of the run
  int64_t index = 0;  // in the data set
  Sample sample;
  std::string sha256;  // of the content
};

// After an error nobody starts a new sample, but those that were started are finished: so the error
// that is thrown is that of the lowest sample, whatever the number of threads.
class SampleQueue {
 public:
  // `ahead`: samples that are read and wait, at most. `interrupted` (may be empty) is asked before
  // each sample is read; true: no more are started.
  SampleQueue(const Dataset& dataset, std::span<const int64_t> samples, size_t ahead,
              std::function<bool()> interrupted);
  ~SampleQueue();
  SampleQueue(const SampleQueue&) = delete;
  SampleQueue& operator=(const SampleQueue&) = delete;

  // The next sample; nothing when there are no more to start. Thread-safe, throws nothing.
  std::optional<NextSample> Take();
  // The exception being handled is the error of the sample at `place`.
  void FailAt(size_t place);
  // When all workers have ended: throws the error of the lowest sample. False: interrupted before
  // all samples were started.
  bool Finish();

 private:
  struct Read {
    NextSample next;
    std::exception_ptr error;
  };

  bool Claim(size_t& place);  // mutex_ is held
  Read ReadAt(size_t place) const;
  void Keep(std::exception_ptr error, size_t place);  // mutex_ is held
  void ReadOn();

  const Dataset& dataset_;
  const std::span<const int64_t> samples_;
  const size_t ahead_;
  const std::function<bool()> interrupted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Below: guarded by mutex_.
  std::deque<Read> ready_;
  size_t next_ = 0;
  bool reading_ = false;  // the thread of our own has a sample in its hands
  bool stopped_ = false, was_interrupted_ = false;
  std::exception_ptr error_;
  size_t error_place_ = 0;
  std::jthread reader_;  // last: it ends before the rest goes
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_SAMPLE_QUEUE_H_
