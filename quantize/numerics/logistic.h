// The logistic function of one byte as each framework computes it. NUMERICS.md, profiles. Sources:
// experiments over all 256 inputs of tables chosen for near-ties (tests/e2e/frameworks); MLAS'
// public coefficients.
#ifndef RSHIFT_QUANTIZE_NUMERICS_LOGISTIC_H_
#define RSHIFT_QUANTIZE_NUMERICS_LOGISTIC_H_

#include <cmath>

#include "quantize/numerics/elementary.h"

namespace rshift::numerics {

// LiteRT's kernels: expf correctly rounded, then a sum and a quotient in binary32.
inline constexpr float TfLiteLogistic(float x) {
  const auto e = static_cast<float>(Exp(-static_cast<double>(x)));
  const float sum = 1.0f + e;
  return 1.0f / sum;
}

// ONNX Runtime: MLAS' rational approximation, an odd polynomial over an even one, by fused
// multiply-adds in binary32. Within 2^-22 of the function.
inline float OrtLogistic(float x) {
  constexpr float kOdd[] = {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                            8.51377133304701e-03f, 2.48287947061529e-01f};
  constexpr float kEven[] = {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                             1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f};
  x = x < -18.0f ? -18.0f : x > 18.0f ? 18.0f : x;
  const float square = x * x;
  float p = kOdd[0];
  for (int i = 1; i < 5; ++i) p = std::fma(p, square, kOdd[i]);
  p = p * x;
  float q = kEven[0];
  for (int i = 1; i < 6; ++i) q = std::fma(q, square, kEven[i]);
  const float quotient = p / q;
  const float y = quotient + 0.5f;
  return y < 0.0f ? 0.0f : y > 1.0f ? 1.0f : y;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_LOGISTIC_H_
