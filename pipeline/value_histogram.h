// How the values of one tensor are spread, for reports: a few bins, one pass, no range known
// beforehand.
#ifndef RSHIFT_PIPELINE_VALUE_HISTOGRAM_H_
#define RSHIFT_PIPELINE_VALUE_HISTOGRAM_H_

#include <array>
#include <cstdint>
#include <span>

namespace rshift {

// Bin i holds [(i - 64) w, (i - 63) w). The width w is the smallest power of two for which the
// bins reach over all values, so that the order in which these came makes no difference.
class ValueHistogram {
 public:
  static constexpr int kBins = 128;

  void Add(std::span<const float> values);

  double bin_width() const;
  const std::array<int64_t, kBins>& counts() const { return counts_; }
  int64_t non_finite() const { return non_finite_; }  // NaN and infinities: in no bin
  // Of the finite values; 0 when there are none.
  float min() const { return min_; }
  float max() const { return max_; }

 private:
  void Widen(int exponent);

  std::array<int64_t, kBins> counts_{};
  int exponent_ = -160;  // of the width: a denormal's, so that the first value widens it
  int64_t finite_ = 0, non_finite_ = 0;
  float min_ = 0, max_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_VALUE_HISTOGRAM_H_
