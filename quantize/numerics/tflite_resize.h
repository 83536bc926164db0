// LiteRT's bilinear interpolation: the neighbours and coefficients of its integer kernel, of its
// kernels for u8, which compute in binary32, and of XNNPACK's; the results of the first two.
// NUMERICS.md section 13.8. Source: the public definitions of LiteRT's and XNNPACK's kernels, and
// experiments with LiteRT 2.3.
#ifndef RSHIFT_QUANTIZE_NUMERICS_TFLITE_RESIZE_H_
#define RSHIFT_QUANTIZE_NUMERICS_TFLITE_RESIZE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "quantize/numerics/quantize.h"
#include "quantize/numerics/resize.h"

namespace rshift::numerics {

enum class TfLiteCorners : uint8_t { kAsymmetric, kAligned, kHalfPixel };

// One dimension of an image; `in` and `out` are at least 1.
struct TfLiteResizeAxis {
  TfLiteCorners corners = TfLiteCorners::kAsymmetric;
  int64_t in = 1, out = 1;
};

// Elements low and high of the dimension, by coefficients that add up to 1.
template <typename T>
struct TfLitePair {
  int64_t low = 0, high = 0;
  T to_low = 0, to_high = 0;
};

// --- the integer kernel: s8 and s16, coefficients in 2^-10 ---
inline constexpr int kTfLiteResizeBits = 10;
inline constexpr int64_t kTfLiteResizeUnit = int64_t{1} << kTfLiteResizeBits;
// LiteRT counts coordinates in 32 bits: 2^10 times these stays below 2^31 for every output index.
inline constexpr int64_t kMostTfLiteResized = int64_t{1} << 20;

// Where rounding carries the coordinate beyond the last element, LiteRT reads what follows the
// image; here the pair is the last element twice.
inline constexpr TfLitePair<int32_t> TfLiteIntegerPair(const TfLiteResizeAxis& axis, int64_t at) {
  const bool aligned = axis.corners == TfLiteCorners::kAligned && axis.out > 1;
  const int64_t from = axis.in - (aligned ? 1 : 0), to = axis.out - (aligned ? 1 : 0);
  const int64_t step = (kTfLiteResizeUnit * from + to / 2) / to;
  int64_t x = at * step;
  if (axis.corners == TfLiteCorners::kHalfPixel) x += step / 2 - kTfLiteResizeUnit / 2;
  const int64_t last = axis.in - 1;
  const int64_t low = std::clamp<int64_t>(x / kTfLiteResizeUnit, 0, last);
  // Towards 0: of -511 and more it is 0.
  const int64_t high = std::min((x + kTfLiteResizeUnit - 1) / kTfLiteResizeUnit, last);
  if (high <= low) return {low, low, static_cast<int32_t>(kTfLiteResizeUnit), 0};
  const auto part = static_cast<int32_t>(x - low * kTfLiteResizeUnit);
  return {low, high, static_cast<int32_t>(kTfLiteResizeUnit) - part, part};
}

// sum: of q times two coefficients, in 2^-20; the nearest integer, ties away from zero.
inline constexpr int32_t TfLiteResized(int64_t sum) {
  constexpr int64_t kHalf = int64_t{1} << (2 * kTfLiteResizeBits - 1);
  return static_cast<int32_t>((sum + kHalf - (sum < 0 ? 1 : 0)) >> (2 * kTfLiteResizeBits));
}

// --- the kernels for u8: every operation in binary32 ---
inline float TfLiteStep(const TfLiteResizeAxis& axis) {
  const int64_t less = axis.corners == TfLiteCorners::kAligned && axis.out > 1 ? 1 : 0;
  return static_cast<float>(axis.in - less) / static_cast<float>(axis.out - less);
}

// Coefficients below 0 and above 1 occur before the first element, and belong to that one twice.
inline TfLitePair<float> TfLiteFloatPair(const TfLiteResizeAxis& axis, int64_t at) {
  const float step = TfLiteStep(axis), index = static_cast<float>(at);
  const float x =
      axis.corners == TfLiteCorners::kHalfPixel ? (index + 0.5f) * step - 0.5f : index * step;
  const int64_t last = axis.in - 1;
  const int64_t low = std::clamp<int64_t>(static_cast<int64_t>(std::floor(x)), 0, last);
  const int64_t high = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(x)), low, last);
  const float part = x - static_cast<float>(low);
  return {low, high, 1.0f - part, part};
}

// Four neighbours q[y][x], y along the first dimension.
struct TfLiteSquare {
  float q[2][2];
};

// The reference's order of operations (each product by the first dimension's coefficient first,
// sums along the first dimension first), and the optimised kernel's. Of results in [0, 255].
inline int32_t TfLiteFloatFirst(const TfLiteSquare& s, const float (&c)[2], const float (&d)[2]) {
  float sum = s.q[0][0] * c[0] * d[0];
  sum += s.q[1][0] * c[1] * d[0];
  sum += s.q[0][1] * c[0] * d[1];
  sum += s.q[1][1] * c[1] * d[1];
  return static_cast<int32_t>(sum + 0.5f);
}
inline int32_t TfLiteFloatProduct(const TfLiteSquare& s, const float (&c)[2], const float (&d)[2]) {
  float sum = s.q[0][0] * (c[0] * d[0]);
  sum += s.q[0][1] * (c[0] * d[1]);
  sum += s.q[1][0] * (c[1] * d[0]);
  sum += s.q[1][1] * (c[1] * d[1]);
  return static_cast<int32_t>(sum + 0.5f);
}

// --- XNNPACK: s8 and u8, coefficients in 2^-11, results as resize.h's ---
inline TfLitePair<int32_t> XnnpackPair(const TfLiteResizeAxis& axis, int64_t at) {
  const float step = TfLiteStep(axis), index = static_cast<float>(at);
  const int64_t last = axis.in - 1;
  float x = index * step;
  if (axis.corners == TfLiteCorners::kHalfPixel)
    x = std::clamp(x + (0.5f * step - 0.5f), 0.0f, static_cast<float>(last));
  const int64_t low = std::clamp<int64_t>(static_cast<int64_t>(x), 0, last);
  const float part = x - static_cast<float>(low);
  const auto to_high = static_cast<int32_t>(RoundHalfEven(part * kResizeUnit));
  return {low, std::min(low + 1, last), static_cast<int32_t>(kResizeUnit) - to_high, to_high};
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_TFLITE_RESIZE_H_
