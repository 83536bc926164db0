#include "pipeline/value_histogram.h"

#include <algorithm>
#include <cmath>

namespace rshift {
namespace {

constexpr int kHalf = ValueHistogram::kBins / 2;

// The smallest e with largest < kHalf * 2^e.
int ExponentFor(float largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent
  return exponent - 6;
}
static_assert(kHalf == 1 << 6);

}  // namespace

double ValueHistogram::bin_width() const { return std::ldexp(1.0, exponent_); }

void ValueHistogram::Widen(int exponent) {
  const int shift =
      std::min(exponent - exponent_, 8);  // all that is left of kBins is one each side
  std::array<int64_t, kBins> wide{};
  for (int i = 0; i < kBins; ++i) wide[((i - kHalf) >> shift) + kHalf] += counts_[i];
  counts_ = wide;
  exponent_ = exponent;
}

void ValueHistogram::Add(std::span<const float> values) {
  float low = finite_ > 0 ? min_ : INFINITY, high = finite_ > 0 ? max_ : -INFINITY;
  int64_t finite = 0;
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
    ++finite;
  }
  non_finite_ += static_cast<int64_t>(values.size()) - finite;
  finite_ += finite;
  if (finite == 0) return;
  min_ = low;
  max_ = high;
  const float largest = std::max(std::fabs(low), std::fabs(high));
  if (largest > 0) {
    if (const int exponent = ExponentFor(largest); exponent > exponent_) Widen(exponent);
  }
  const double bins_per_unit = std::ldexp(1.0, -exponent_);
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    // A power of two scales exactly: the floor is in [-kHalf, kHalf).
    ++counts_[static_cast<int>(std::floor(static_cast<double>(v) * bins_per_unit)) + kHalf];
  }
}

}  // namespace rshift
