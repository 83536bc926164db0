// TFLite's real multiplier of a convolution, S_x S_w / S_y, in its two precisions, and the integer
// pair. NUMERICS.md, profiles tflite. Source: the quantized operators table of SNPS-Caffe ("double"
// and "single precision"), TFLite's QuantizeMultiplier.
#ifndef RSHIFT_QUANTIZE_NUMERICS_TFLITE_MULTIPLIER_H_
#define RSHIFT_QUANTIZE_NUMERICS_TFLITE_MULTIPLIER_H_

#include "quantize/numerics/multiplier.h"

namespace rshift::numerics {

// D1, D2: binary64, product first.
inline constexpr double TfLiteScaleDouble(float scale_x, float scale_w, float scale_y) {
  const double product = static_cast<double>(scale_x) * static_cast<double>(scale_w);
  return product / static_cast<double>(scale_y);
}

// F2: the same two operations in binary32. Up to two units in the last place of a float (2^-23)
// away from the double.
inline constexpr double TfLiteScaleSingle(float scale_x, float scale_w, float scale_y) {
  const float product = scale_x * scale_w;
  return static_cast<double>(product / scale_y);
}

// Multiplier = round(frexp(scale) * 2^31), half away from zero, which for a positive number is
// QuantizeMultiplier(); it too renormalises 2^31 and flushes to {0, 0} below rshift 62. 0 gives
// {0, 0} (TFLite's own special case; a float product can underflow). At the top TFLite's
// multiplication takes shifts up to 30, so rshift is at least 1: larger scales become {2^31 - 1,
// 1}, its own saturation.
inline constexpr RequantWords TfLiteMultiplier(double scale) {
  if (scale == 0.0) return {};
  if (scale >= 1073741824.0) return {INT32_MAX, 1};
  return QuantizeMultiplier(scale);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_TFLITE_MULTIPLIER_H_
