// One look at a run of values: their extremes, and in which counter each one goes. Not for use
// outside calibrate/ and its tests.
#ifndef RSHIFT_CALIBRATE_VALUE_SCAN_H_
#define RSHIFT_CALIBRATE_VALUE_SCAN_H_

#include <array>
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
// The same while values are looked at, each lane with a part of them.
struct ExtremeLanes {
  ExtremeLanes();
  void Forget();
  Extremes Join() const;

  static constexpr size_t kLanes = 16;
  alignas(64) std::array<float, kLanes> low;
  alignas(64) std::array<float, kLanes> high;
};

// The octaves whose bins have 16-bit numbers, 1024 for each octave and sign: the bits of the
// half-precision float that has the value's sign and its 10 highest bits of mantissa, the octave
// `first` having the exponent 1. `first` is a float's biased exponent, in [1, kLastFirst], so that
// neither zeros nor values that are not finite lie in a window.
struct OctaveWindow {
  static constexpr uint32_t kOctaves = 29;  // of a half's exponents, but that of what is too large
  static constexpr uint32_t kFirstBin = 1u << 10;
  static constexpr uint32_t kSign = 1u << 15;
  static constexpr uint32_t kBins = 2 * kSign;
  static constexpr uint32_t kLastFirst = 255 - kOctaves;
  static constexpr uint32_t kNothing = 256;  // as `first`: no value lies in it

  uint32_t first = kNothing;
  // The bin of which no numbers are written: one that many values lie in, of which the same counter
  // would wait for itself. kBins: there is none.
  uint32_t frequent = kBins;
};

// Room behind what ScanValues writes that it may overwrite.
inline constexpr size_t kScanPadding = 32;

struct SplitValues {
  size_t near = 0, far = 0, frequent = 0;
  // The lowest octave of the window in which a value lies, from its first on; kOctaves: none does.
  uint32_t lowest = OctaveWindow::kOctaves;
};

// Widens `extremes` by `values` (NaN counts as nothing, infinities count, the sign of a zero is
// undefined). Of those that are not zero, writes the bin number of each one in the window to
// `near`, but for those in the frequent bin, and those outside, NaN and infinities included, to
// `far`; both have room for values.size() + kScanPadding. `count` becomes how many. Which lane of
// `extremes` knows a value depends on the CPU, nothing else does.
void ScanValues(std::span<const float> values, const OctaveWindow& window, ExtremeLanes& extremes,
                uint16_t* near, float* far, SplitValues& count);
// All forms of ScanValues that this CPU can run; the last is the one that runs.
using ScanFunction = void (*)(std::span<const float>, const OctaveWindow&, ExtremeLanes&, uint16_t*,
                              float*, SplitValues&);
std::vector<ScanFunction> ScanForms();
// Of those that are finite and above `limit`.
Extremes FiniteExtremes(std::span<const float> values, float limit);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_VALUE_SCAN_H_
