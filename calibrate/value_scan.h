// One look at a run of values: their extremes, and which are not zero. Not for use outside
// calibrate/ and its tests.
#ifndef RSHIFT_CALIBRATE_VALUE_SCAN_H_
#define RSHIFT_CALIBRATE_VALUE_SCAN_H_

#include <cstddef>
#include <limits>
#include <span>

namespace rshift {

struct Extremes {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
};

inline constexpr size_t kScanPadding = 8;  // elements behind the last one that may be overwritten

// Widens `extremes` by `values` (NaN counts as nothing, infinities count, the sign of a zero is
// undefined) and copies those that are not zero, NaN included, to `nonzero`, which has room for
// values.size() + kScanPadding. Returns how many. The same on every CPU.
size_t ScanValues(std::span<const float> values, Extremes& extremes, float* nonzero);
// Of those that are finite.
Extremes FiniteExtremes(std::span<const float> values);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_VALUE_SCAN_H_
