// From a range to scale and zero point. NUMERICS.md section 1.
#ifndef RSHIFT_QUANTIZE_NUMERICS_QPARAMS_H_
#define RSHIFT_QUANTIZE_NUMERICS_QPARAMS_H_

#include <cfloat>
#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// A range too small for a normal float scale (all zeros above all) gets scale 1: every value is
// then 0.
inline constexpr float ScaleOrOne(double scale) {
  return scale >= static_cast<double>(FLT_MIN) ? static_cast<float>(scale) : 1.0f;
}

// Activations, symmetric: [-threshold, threshold] in s8, S = threshold / 128 (the threshold itself
// saturates to 127); [0, threshold] in u8, S = threshold / 255. threshold >= 0.
inline constexpr QuantParams SymmetricParams(float threshold, bool is_signed) {
  return {ScaleOrOne(static_cast<double>(threshold) / (is_signed ? 128.0 : 255.0)), 0};
}

// The largest integer of weights of so many bits (8 or 4): 127 or 7. The smallest is its negative.
inline constexpr int32_t LargestWeight(int bits) { return (1 << (bits - 1)) - 1; }

// Weights: [-max|w|, max|w|] in [-127, 127], S = max|w| / 127; of 4 bits 7 in place of 127.
inline constexpr float WeightScale(float largest_magnitude, int bits = 8) {
  return ScaleOrOne(static_cast<double>(largest_magnitude) /
                    static_cast<double>(LargestWeight(bits)));
}

// Activations, asymmetric: the range is extended to hold 0, S = (max - min) / (qmax - qmin),
// Z = round(qmin - min / S), which lies in [qmin, qmax]: 0 is represented exactly.
inline constexpr QuantParams AsymmetricParams(float low, float high, int32_t qmin = -128,
                                              int32_t qmax = 127) {
  const double min = low < 0 ? low : 0.0;
  const double max = high > 0 ? high : 0.0;
  const double exact = (max - min) / static_cast<double>(qmax - qmin);
  if (exact < static_cast<double>(FLT_MIN)) return {1.0f, 0};
  const float scale = static_cast<float>(exact);
  const double zero = RoundHalfEven(static_cast<double>(qmin) - min / static_cast<double>(scale));
  const double nudged = zero < qmin ? qmin : zero > qmax ? qmax : zero;
  return {scale, static_cast<int32_t>(nudged)};
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_QPARAMS_H_
