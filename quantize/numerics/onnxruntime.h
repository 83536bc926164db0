// The numbers of ONNX Runtime's CPU kernels (x86-64 with AVX2 and FMA or better). NUMERICS.md,
// profile onnxruntime. Source: the public definitions of its contrib operators and of MLAS, and
// experiments on values at and beside every tie (tests/e2e/frameworks).
//
// It turns s8 activations into u8 (q + 128, Z + 128) first. Where a zero point takes part in float
// arithmetic, below, it is the unsigned one.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ONNXRUNTIME_H_
#define RSHIFT_QUANTIZE_NUMERICS_ONNXRUNTIME_H_

#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>

#include "quantize/numerics/elementary.h"
#include "quantize/numerics/logarithm.h"
#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// QLinearAdd: y = to_even(fma(a, ratio_a, fma(b, ratio_b, fixed))).
struct OrtAddFactors {
  float ratio_a = 0, ratio_b = 0, fixed = 0;
};
inline OrtAddFactors OrtAdd(float scale_a, int32_t zero_a, float scale_b, int32_t zero_b,
                            float scale_y, int32_t zero_y) {
  const float ratio_a = scale_a / scale_y, ratio_b = scale_b / scale_y;
  const float b = ratio_b * static_cast<float>(zero_b);
  const float zeros = std::fma(ratio_a, static_cast<float>(zero_a), b);
  return {ratio_a, ratio_b, static_cast<float>(zero_y) - zeros};
}

// GlobalAveragePool: float(sum - n Zx) * scale.
inline constexpr float OrtGlobalPoolScale(float scale_x, float scale_y, int64_t n) {
  const float unit = scale_y * static_cast<float>(n);
  return scale_x / unit;
}

// From this scale on the greatest entry below times floor(1 / Sy) fits binary32: units up to n e^5.
inline float OrtLeastSoftmaxScale(int64_t n) {
  return static_cast<float>(1.0 / (148.0 * static_cast<double>(n)));
}

// QLinearSoftmax over n elements: entry d is exp((bit_shift - d) * S), d = max - x; bit_shift * S =
// ln(FLT_MAX / n) - 5 keeps the sum of n of them finite. binary64, then rounded to binary32.
inline std::array<float, 256> OrtSoftmaxTable(float scale_x, int64_t n) {
  // Its logarithm is that of binary32.
  const auto logarithm =
      static_cast<float>(Ln(static_cast<double>(FLT_MAX / static_cast<float>(n))));
  const double room = static_cast<double>(logarithm) - 5.0;
  const double shift = (room > 0 ? room : 0.0) / static_cast<double>(scale_x);
  std::array<float, 256> table{};
  for (int d = 0; d < 256; ++d) {
    const double x = (static_cast<double>(-d) + shift) * static_cast<double>(scale_x);
    table[static_cast<size_t>(d)] = static_cast<float>(Exp(x));
  }
  return table;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ONNXRUNTIME_H_
