// How much memory a calibration takes, said before its first sample.
#ifndef RSHIFT_CALIBRATE_MEMORY_USE_H_
#define RSHIFT_CALIBRATE_MEMORY_USE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// Bytes of this process in memory now, and the most there ever were; 0 where the system does not
// say.
uint64_t ResidentBytes();
uint64_t PeakResidentBytes();

// The pages of all histograms (Histogram in statistics.h), one for each octave and sign that occurs
// in `values` over that many samples. Of n values around zero the smallest is about 1/n of the
// largest, so that each doubling of the samples adds an octave.
uint64_t ExpectedPages(const Graph& graph, const std::vector<ValueId>& values, size_t samples);

struct MemoryPlan {
  size_t threads = 1;
  uint64_t pages = 0;         // ExpectedPages
  uint64_t sample_bytes = 0;  // of one sample's inputs
  bool pictures = false;      // are decoded for it
};
// What has been freed goes back to the system, where the C library can do that: the heaps of
// threads would not use it again.
void ReturnFreedMemory();
// The peak of a process that has ResidentBytes() now, sessions and weights included.
uint64_t ExpectedPeak(const MemoryPlan& plan);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_MEMORY_USE_H_
