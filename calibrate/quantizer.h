// What 8 bits over a range make of a real value. Not for use outside calibrate/.
#ifndef RSHIFT_CALIBRATE_QUANTIZER_H_
#define RSHIFT_CALIBRATE_QUANTIZER_H_

#include <algorithm>

#include "base/round_to_even.h"
#include "quantize/ranges/table.h"

namespace rshift {

// Numbers `least` to `greatest` times scale, and where real values begin to be clipped.
struct Quantizer {
  double scale = 1, least = 0, greatest = 0;
  double low = 0, high = 0;
  double Number(double value) const {
    return RoundToEven(std::clamp(value / scale, least, greatest));  // the ends are integers
  }
  double Rounded(double value) const { return Number(value) * scale; }
  bool operator==(const Quantizer&) const = default;
};

Quantizer SymmetricQuantizer(const TensorRange& range);
Quantizer AsymmetricQuantizer(const TensorRange& range);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_QUANTIZER_H_
