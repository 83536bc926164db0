// Averages in the frameworks' forms; the tpu form is average_pool.h. NUMERICS.md, profiles.
// Sources: TFLite's AveragePool and Mean, XNNPACK's mean, ONNX Runtime's QLinearAveragePool,
// Caffe2's Int8AveragePool.
#ifndef RSHIFT_QUANTIZE_NUMERICS_AVERAGE_FORMS_H_
#define RSHIFT_QUANTIZE_NUMERICS_AVERAGE_FORMS_H_

#include <cstdint>

#include "quantize/numerics/quantize.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

// sum / count, half away from zero, of raw values: input and output have equal parameters.
inline constexpr int32_t AverageInteger(int32_t sum, int32_t count, int32_t lo, int32_t hi) {
  const int64_t half = count / 2;
  const int64_t biased = sum > 0 ? sum + half : sum - half;
  return Clamp(biased / count, lo, hi);  // C's division, towards zero
}

// total: the sum of float(x - Zx) * Sx in window order. Each division rounded; zero_y unsigned as
// in add_forms.h. NaN (a total of infinities) gives the zero point.
inline constexpr int32_t AverageDequantized(float total, int32_t count, float scale_y,
                                            int32_t zero_y, int32_t shift_y, int32_t lo,
                                            int32_t hi) {
  const float mean = total / static_cast<float>(count);
  const float units = mean / scale_y;
  if (units != units) return zero_y < lo ? lo : zero_y > hi ? hi : zero_y;
  return RoundToByte(units + static_cast<float>(zero_y + shift_y), -shift_y, lo, hi);
}

// sum: of raw values, pads that count being Zx.
inline constexpr int32_t AverageMeanScaleOffset(int32_t sum, int32_t count, int32_t zero_x,
                                                float scale, float offset, int32_t shift_y,
                                                int32_t lo, int32_t hi) {
  const float mean = static_cast<float>(sum) / static_cast<float>(count);
  const float centred = mean - static_cast<float>(zero_x);
  const float scaled = centred * scale;
  const float units = scaled + offset;
  return RoundToByte(units, -shift_y, lo, hi);
}

// sum: of x - Zx. Half away from zero.
inline constexpr int32_t AverageScaleAway(int32_t sum, int32_t count, float scale, int32_t zero_y,
                                          int32_t lo, int32_t hi) {
  const float factor = scale / static_cast<float>(count);
  return RoundToByteBy(RealRounding::kAway, static_cast<float>(sum) * factor, zero_y, lo, hi);
}

// The raw sum of the whole window, all zero points in `offset`: an integer under the integer
// roundings, any number under kFloatZeroEven (product, sum, to even).
inline constexpr int32_t AverageRawSum(Rounding rounding, int32_t sum, int32_t multiplier,
                                       int32_t rshift, float offset, int32_t lo, int32_t hi) {
  if (rounding == Rounding::kFloatZeroEven) {
    const float scaled = static_cast<float>(sum) * WordToFloat(multiplier);
    return RoundToByte(scaled + offset, 0, lo, hi);
  }
  return Clamp(ScaleInteger(rounding, sum, multiplier, rshift) + static_cast<int32_t>(offset), lo,
               hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_AVERAGE_FORMS_H_
