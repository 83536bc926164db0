// The counts of one octave of a histogram: 32 bits each until one of them needs more.
#ifndef RSHIFT_CALIBRATE_HISTOGRAM_PAGE_H_
#define RSHIFT_CALIBRATE_HISTOGRAM_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace rshift {

class HistogramPage {
 public:
  static constexpr size_t kBins = 1024;

  uint64_t operator[](size_t bin) const { return wide_.empty() ? narrow_[bin] : wide_[bin]; }
  void Add(size_t bin, uint64_t count) {
    const uint64_t sum = (*this)[bin] + count;
    if (wide_.empty() && sum > std::numeric_limits<uint32_t>::max()) {
      wide_.assign(narrow_.begin(), narrow_.end());
      narrow_ = std::vector<uint32_t>();  // {} would keep its memory
    }
    if (wide_.empty())
      narrow_[bin] = static_cast<uint32_t>(sum);
    else
      wide_[bin] = sum;
  }
  bool operator==(const HistogramPage& other) const {
    for (size_t bin = 0; bin < kBins; ++bin) {
      if ((*this)[bin] != other[bin]) return false;
    }
    return true;
  }

 private:
  std::vector<uint32_t> narrow_ = std::vector<uint32_t>(kBins);
  std::vector<uint64_t> wide_;  // instead of narrow_, once it is not empty
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_HISTOGRAM_PAGE_H_
