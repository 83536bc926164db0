// The counts of one octave of a histogram: 32 bits each until one of them may need more.
#ifndef RSHIFT_CALIBRATE_HISTOGRAM_PAGE_H_
#define RSHIFT_CALIBRATE_HISTOGRAM_PAGE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rshift {

class HistogramPage {
 public:
  static constexpr size_t kBins = 1024;

  uint64_t operator[](size_t bin) const { return wide_.empty() ? narrow_[bin] : wide_[bin]; }
  void Add(size_t bin, uint64_t count) {
    if (!wide_.empty()) {
      wide_[bin] += count;
      return;
    }
    const uint64_t sum = narrow_[bin] + count;
    if (sum > kMostNarrow) {
      Widen();
      wide_[bin] = sum;
      return;
    }
    narrow_[bin] = static_cast<uint32_t>(sum);
    bound_ = std::max(bound_, sum);
  }
  // The counts, after which no more than `most` may be added to each of them; nullptr once they
  // have 64 bits.
  uint32_t* Open(uint32_t most);
  // Adds what `counts` says of each bin, nowhere more than `most`, and leaves zeros there.
  void Take(std::span<uint32_t, kBins> counts, uint32_t most);
  bool operator==(const HistogramPage& other) const {
    for (size_t bin = 0; bin < kBins; ++bin) {
      if ((*this)[bin] != other[bin]) return false;
    }
    return true;
  }

 private:
  static constexpr uint64_t kMostNarrow = std::numeric_limits<uint32_t>::max();

  void Widen();

  std::vector<uint32_t> narrow_ = std::vector<uint32_t>(kBins);
  std::vector<uint64_t> wide_;  // instead of narrow_, once it is not empty
  uint64_t bound_ = 0;          // no count in narrow_ is larger
};

// Of a page's counts, or as many others.
bool IsZeroPage(std::span<const uint32_t, HistogramPage::kBins> counts);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_HISTOGRAM_PAGE_H_
