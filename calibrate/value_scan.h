// One look at a run of values: their extremes, and in which counter each one goes. Not for use
// outside calibrate/ and its tests.
#ifndef RSHIFT_CALIBRATE_VALUE_SCAN_H_
#define RSHIFT_CALIBRATE_VALUE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rshift {

struct Extremes {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
};

// The octaves whose bins have 16-bit numbers: 1024 for each octave and sign. Octave `first` is a
// float's biased exponent, in [1, kLastFirst], so that neither zeros nor values that are not finite
// lie in a window.
struct OctaveWindow {
  static constexpr uint32_t kOctaves = 20;
  static constexpr uint32_t kBinsOfSign = kOctaves << 10;  // negative ones come second
  static constexpr uint32_t kBins = 2 * kBinsOfSign;
  static constexpr uint32_t kLastFirst = 255 - kOctaves;
  static constexpr uint32_t kNothing = 256;  // as `first`: no value lies in it
  uint32_t first = kNothing;
};

// Room behind what ScanValues writes that it may overwrite.
inline constexpr size_t kScanPadding = 16;

struct SplitValues {
  size_t near = 0, far = 0;
};

// Widens `extremes` by `values` (NaN counts as nothing, infinities count, the sign of a zero is
// undefined). Of those that are not zero, writes the bin number of each one in the window to
// `near`, and the others, NaN and infinities included, to `far`; both have room for values.size() +
// kScanPadding. Returns how many. The same on every CPU.
SplitValues ScanValues(std::span<const float> values, OctaveWindow window, Extremes& extremes,
                       uint16_t* near, float* far);
// All forms of ScanValues that this CPU can run; the last is the one that runs.
using ScanFunction = SplitValues (*)(std::span<const float>, OctaveWindow, Extremes&, uint16_t*,
                                     float*);
std::vector<ScanFunction> ScanForms();
// Of those that are finite and above `limit`.
Extremes FiniteExtremes(std::span<const float> values, float limit);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_VALUE_SCAN_H_
