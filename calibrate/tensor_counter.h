// The fast half of the statistics: what one thread counts of one tensor between two merges.
//
// Zeros are only counted. The counter of any other value is found by the value's own top bits (see
// Histogram): the upper nine choose a page, the next ten the counter in it. Counters are of 32
// bits, and are moved into 64-bit ones before they could overflow. Memory for each tensor and
// thread: 4 KiB for each octave that occurs, as a rule 20 to 50 of them, at most 510.
//
// A large tensor is counted in one flat array of its thread first: it holds the octaves below the
// largest magnitude and stays in the first two caches. Its pages are added to the tensor's own
// afterwards. What lies outside (as a rule one value in a million) and small tensors go to the
// tensor's pages at once.
#ifndef RSHIFT_CALIBRATE_TENSOR_COUNTER_H_
#define RSHIFT_CALIBRATE_TENSOR_COUNTER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "calibrate/value_scan.h"

namespace rshift {

class TensorCounter {
 public:
  // All values that the tensor `name` has in one sample. Throws as Add() of statistics.h does; what
  // was counted is then worthless.
  void Add(std::span<const float> values, const InfinityRule& rule, const std::string& name,
           const RecordedSample& sample);
  // Everything counted since the start or Reset; without a name.
  const TensorStatistics& Sum();
  // Adds what Sum() would be; MergePart of statistics.h, or Merge with the peaks. Needs no memory
  // of its own.
  void AddPartTo(TensorStatistics& into) const;
  void AddTo(TensorStatistics& into) const;
  void Reset();
  // The largest |x| of the last sample; nothing when it held no finite value.
  const std::optional<float>& peak() const { return peak_; }

 private:
  static constexpr uint32_t kPageIds = 512;  // sign and exponent
  using Page = std::array<uint32_t, Histogram::kPageBins>;
  struct OwnedPage {
    uint32_t id = 0;
    std::unique_ptr<Page> counts;
  };
  // Where a page id finds its counters: the page's address less that of counter 0 were all pages in
  // one array, so that the top 19 bits of a value are its index. 0: no such page yet, or values
  // that are not finite.
  using Directory = std::array<uintptr_t, kPageIds>;

  void Count(std::span<const float> nonzero, const InfinityRule& rule, Directory& directory);
  OctaveWindow ChooseWindow(std::span<const float> values) const;
  // Adds the counters of one window to the pages and makes them 0 again.
  void TakeWindow(OctaveWindow window, const Extremes& extremes, uint32_t* counters,
                  Directory& directory);
  // A value whose page the directory lacks: makes the page, or deals with what is not finite.
  void CountRare(float value, const InfinityRule& rule, Directory& directory);
  // A new page of zeros.
  uint32_t* MakePage(uint32_t id, Directory& directory);
  static void Enter(const OwnedPage& page, Directory& directory);
  void AddPagesTo(Histogram& into) const;
  void ClearPages();
  void Flush();  // 32-bit counters into sum_

  TensorStatistics sum_;
  std::vector<OwnedPage> pages_;
  uint64_t pending_ = 0;  // values that may be in the pages
  uint32_t top_ = 0;      // biased exponent of the largest |x| of all samples so far
  std::optional<float> peak_;
  uint64_t skipped_ = 0;  // infinities of the sample at hand
  float refused_ = 0;     // its first value that no rule lets pass
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_TENSOR_COUNTER_H_
