// Equal-width bins derived from the log-linear ones, and the error of a uniform quantizer on them.
// Everything is double arithmetic in a fixed order: the same statistics give the same numbers. For
// calibrate/ and pictures of it.
#ifndef RSHIFT_CALIBRATE_LINEAR_HISTOGRAM_H_
#define RSHIFT_CALIBRATE_LINEAR_HISTOGRAM_H_

#include <span>
#include <vector>

#include "calibrate/statistics.h"

namespace rshift {

// Counts of non-zero values in bins of equal width over [low, high]; a log-linear bin that lies
// across several is shared out in proportion. Zeros are left out: any quantizer represents them
// exactly.
struct LinearHistogram {
  double low = 0, high = 0;
  std::vector<double> counts;
  double width() const { return (high - low) / static_cast<double>(counts.size()); }
  double Center(size_t bin) const { return low + (static_cast<double>(bin) + 0.5) * width(); }
};

// Of x, over [min, max] extended to hold 0. `from`: Bins(statistics); `bins`: how many it gets.
LinearHistogram SignedHistogram(const TensorStatistics& statistics,
                                std::span<const WeightedBin> from, size_t bins);
// Of |x|, over [0, max |x|].
LinearHistogram AbsoluteHistogram(const TensorStatistics& statistics,
                                  std::span<const WeightedBin> from, size_t bins);

// Prefix sums that give the squared error of any clipping range in constant time.
class ClipError {
 public:
  explicit ClipError(const LinearHistogram& histogram);
  // Sum of squared errors when the bins [first, last) are kept and quantized with `levels` steps
  // over their width, and everything else is clipped to their ends. Values within half a step of
  // zero become zero.
  double operator()(size_t first, size_t last, int levels) const;
  // The mass of bins [first, last).
  double Mass(size_t first, size_t last) const { return s0_[last] - s0_[first]; }
  double total() const { return s0_.back(); }

 private:
  // Sum of (x - border)^2 over bins [first, last).
  double Distance(size_t first, size_t last, double border) const;
  const LinearHistogram& histogram_;
  std::vector<double> s0_, s1_, s2_;  // sums of 1, x, x^2 of all bins below
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_LINEAR_HISTOGRAM_H_
