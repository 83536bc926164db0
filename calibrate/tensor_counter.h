// The fast half of the statistics: one thread's look at one tensor of one sample.
//
// The counter of a value is found by the value's own top bits (see Histogram). A large tensor is
// counted in one flat array of 32-bit counters, which holds the octaves below the largest magnitude
// and stays in the first two caches. What lies outside (as a rule one value in a million) and small
// tensors are kept as they are. Both are added to the tensor's statistics afterwards, which is
// short: several threads count at the same time and add to the same statistics one after the
// other.
#ifndef RSHIFT_CALIBRATE_TENSOR_COUNTER_H_
#define RSHIFT_CALIBRATE_TENSOR_COUNTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "calibrate/value_scan.h"

namespace rshift {

// What a thread remembers of a tensor from one sample to the next: makes it faster, changes no
// result. Of one TensorStatistics, whose pages stay where they are.
struct TensorMemory {
  float reach = 0;          // the largest |x|
  bool is_clipped = false;  // many values were close to it
  // By sign and octave of the window that begins at `first`; nullptr: not known.
  static constexpr size_t kPages = size_t{2} * OctaveWindow::kOctaves;
  uint32_t first = OctaveWindow::kNothing;
  std::array<HistogramPage*, kPages> pages{};
};

class TensorCounter {
 public:
  // All values that the tensor `name` has in one sample. Throws as Add() of statistics.h does, and
  // then has counted nothing.
  void Count(std::span<const float> values, const InfinityRule& rule, const std::string& name,
             const std::string& sample, const TensorMemory& memory);
  // Adds what Count has found in `sample`, and forgets all but the peak.
  void AddTo(TensorStatistics& into, const RecordedSample& sample, TensorMemory& memory);
  // The largest |x| of the last sample; nothing when it held no finite value.
  const std::optional<float>& peak() const { return peak_; }

 private:
  static constexpr uint32_t kPageIds = 512;  // sign and exponent

  // Removes what is not finite from far_[begin, end): counts it as skipped, or refuses it.
  // Returns the new end.
  size_t TakeFinite(size_t begin, size_t end, const InfinityRule& rule);
  bool IsClipped() const;  // whether many values are close to the peak
  void AddWindowTo(Histogram& into, TensorMemory& memory);
  void AddFarTo(Histogram& into);
  void Forget();

  std::vector<uint32_t> counters_;  // of the window
  bool counted_ = false;            // counters_ are not all 0
  std::vector<float> far_;          // the first far_count_: values outside, zeros left out
  size_t far_count_ = 0;
  OctaveWindow window_;
  uint32_t lowest_ = 0;  // SplitValues::lowest
  ExtremeLanes lanes_;
  Extremes extremes_;  // of finite values
  std::optional<float> peak_;
  uint64_t count_ = 0, zeros_ = 0;  // finite values, and how many of them are zero
  uint64_t skipped_ = 0;            // infinities and masks
  float refused_ = 0;               // the first value that no rule lets pass
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_TENSOR_COUNTER_H_
