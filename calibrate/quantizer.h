// What 8 bits over a range make of a real value. Not for use outside calibrate/.
#ifndef RSHIFT_CALIBRATE_QUANTIZER_H_
#define RSHIFT_CALIBRATE_QUANTIZER_H_

#include <algorithm>

#include "quantize/ranges/table.h"

namespace rshift {

// Numbers `least` to `greatest` times scale, and where real values begin to be clipped.
struct Quantizer {
  double scale = 1, least = 0, greatest = 0;
  double low = 0, high = 0;
  // Rounds half to even: a double has no fraction behind 2^52, and the ends are integers. Calls no
  // function, because the methods ask it a million times.
  double Number(double value) const {
    constexpr double kNoFraction = 0x1.8p52;
    return std::clamp(value / scale, least, greatest) + kNoFraction - kNoFraction;
  }
  double Rounded(double value) const { return Number(value) * scale; }
  bool operator==(const Quantizer&) const = default;
};

Quantizer SymmetricQuantizer(const TensorRange& range);
Quantizer AsymmetricQuantizer(const TensorRange& range);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_QUANTIZER_H_
