// How calibration runs a float program: compiled for observation, samples in parallel. For
// calibrate/ and pipeline/.
#ifndef RSHIFT_CALIBRATE_OBSERVED_PROGRAM_H_
#define RSHIFT_CALIBRATE_OBSERVED_PROGRAM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/graph.h"
#include "runtime/runtime.h"

namespace rshift {

// `graph`: after RunPasses. Its tensors can be looked at (observation.h).
Program CompileForObservation(const Graph& graph);

// The program of CompileForObservation and sessions of it, each of one thread: what is done with
// them leaves them as they were, so that the next one need not make its own.
class ObservedProgram {
 public:
  // `portable`: SessionOptions::portable.
  ObservedProgram(const Graph& graph, bool portable);
  ObservedProgram(const ObservedProgram&) = delete;
  ObservedProgram& operator=(const ObservedProgram&) = delete;

  const Program& program() const { return program_; }
  bool portable() const { return portable_; }
  // A session that nobody else has, which goes back to the program when its owner lets go of it.
  // Its tensors hold what it has run before. Thread-safe.
  using SessionOwner = std::unique_ptr<Session, std::function<void(Session*)>>;
  SessionOwner TakeSession();

 private:
  const Program program_;
  const bool portable_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;  // guarded by mutex_
};

// `asked`, or DefaultThreads() where that is 0; at least 1, at most `samples`.
size_t ThreadCount(int asked, size_t samples);

// Calls work(0) to work(threads - 1), each on a thread of its own, and waits for them. Where not
// all threads can be started, those that can do the work: `work` takes samples from a common list.
// Libraries that ask OpenMP themselves find one thread. `work` throws nothing. Throws kIo when no
// thread starts.
void RunThreads(size_t threads, const std::function<void(size_t)>& work);

// What a thread does with each index that it is given.
using IndexWork = std::function<void(size_t index)>;

// Gives every index below `count` to one of ThreadCount(asked, count) threads. Each thread makes
// its work first (with a session of its own). After an exception no thread takes another index; the
// first one is thrown again.
void ForEachIndex(int asked, size_t count, const std::function<IndexWork()>& make_work);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_OBSERVED_PROGRAM_H_
