// The numbers of LiteRT's (TFLite's) kernels besides convolutions. NUMERICS.md, profiles tflite*.
// Source: the public definitions of its reference kernels, and experiments with the library on
// values at and beside every tie (tests/e2e/frameworks).
#ifndef RSHIFT_QUANTIZE_NUMERICS_TFLITE_H_
#define RSHIFT_QUANTIZE_NUMERICS_TFLITE_H_

#include <bit>
#include <cstdint>

#include "base/portable_math.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/tflite_multiplier.h"
#include "quantize/numerics/two_step.h"

namespace rshift::numerics {

// The product in binary32, the quotient in binary64: uint8 convolutions, and the optimised
// FullyConnected with one weight scale.
inline constexpr double TfLiteScaleProduct(float scale_x, float scale_w, float scale_y) {
  const float product = scale_x * scale_w;
  return static_cast<double>(product) / static_cast<double>(scale_y);
}

// --- ReduceProd: one factor after the other, rescaled ---

// p v Multiplier / 2^rshift, ties upwards: LiteRT's requantization of 64 bits, Multiplier < 2^15,
// |v| <= 2^15. Where LiteRT leaves 32 bits, which it does not define, they are held.
inline constexpr int32_t ScaledProduct(int32_t p, int32_t v, RequantWords words) {
  const int64_t product = int64_t{p} * v * words.multiplier;
  return Clamp(ShiftRightRounded(product, words.rshift), INT32_MIN, INT32_MAX);
}

// Of n factors: S_x / S_y^(1/n), 15 bits. 2^15 and more is held below.
inline RequantWords TfLiteProductWords(float scale_x, float scale_y, int64_t n) {
  const double root = portable::Pow(static_cast<double>(scale_y), 1.0 / static_cast<double>(n));
  const RequantWords whole = TfLiteMultiplier(static_cast<double>(scale_x) / root);
  if (whole.multiplier == 0) return {};
  const int32_t reduced =
      whole.multiplier < 0x7fff0000 ? (whole.multiplier + (1 << 15)) >> 16 : 0x7fff;
  return {reduced, whole.rshift < 17 ? 0 : whole.rshift - 16};
}

// --- Add: u = rescale((a - Za) << 20, a) + rescale((b - Zb) << 20, b), y = rescale(u, y) + Zy
// -----
inline constexpr int32_t kTfLiteAddShift = 20;
struct TfLiteAddFactors {
  RequantWords a, b, y;  // two-step words
};
inline constexpr TfLiteAddFactors TfLiteAdd(float scale_a, float scale_b, float scale_y,
                                            int32_t left_shift = kTfLiteAddShift) {
  const auto a = static_cast<double>(scale_a), b = static_cast<double>(scale_b);
  const double twice = 2.0 * (a > b ? a : b);
  const double unit = static_cast<double>(1 << left_shift) * static_cast<double>(scale_y);
  return {TfLiteMultiplier(a / twice), TfLiteMultiplier(b / twice), TfLiteMultiplier(twice / unit)};
}

// --- SquaredDifference: u = rescale((a - Za) << 7, a), v likewise, y = rescale((u - v)^2, y) + Zy
inline constexpr int32_t kTfLiteDifferenceShift = 7;
inline constexpr TfLiteAddFactors TfLiteSquaredDifferenceFactors(float scale_a, float scale_b,
                                                                 float scale_y) {
  const auto a = static_cast<double>(scale_a), b = static_cast<double>(scale_b);
  const double twice = 2.0 * (a > b ? a : b);
  const double unit =
      static_cast<double>(1 << (2 * kTfLiteDifferenceShift)) * static_cast<double>(scale_y);
  return {TfLiteMultiplier(a / twice), TfLiteMultiplier(b / twice),
          TfLiteMultiplier(twice * twice / unit)};
}
// Without Zy. a, b: q - Z of bytes: |u - v| < 2^15.
inline constexpr int32_t TfLiteSquaredDifference(int32_t a, int32_t b, const TfLiteAddFactors& f) {
  const auto scaled = [](int32_t v, const RequantWords& m) {
    return MultiplyTwoStep(v * (1 << kTfLiteDifferenceShift), m.multiplier, m.rshift);
  };
  const int32_t difference = scaled(a, f.a) - scaled(b, f.b);
  return MultiplyTwoStep(difference * difference, f.y.multiplier, f.y.rshift);
}

// --- Mul: two steps by S_a S_b / S_y in binary32
// ----------------------------------------------------
inline constexpr RequantWords TfLiteMul(float scale_a, float scale_b, float scale_y) {
  return TfLiteMultiplier(TfLiteScaleSingle(scale_a, scale_b, scale_y));
}

// --- Mean over n elements
// --------------------------------------------------------------------------- Reference: the
// multiplier of S_x / S_y is shifted left as far as n allows, then divided by n, towards zero. In
// (2^29, 2^31). y = two_step(sum - n Zx) + Zy.
inline constexpr RequantWords TfLiteReferenceMean(float scale_x, float scale_y, int64_t n) {
  const double scale = static_cast<double>(scale_x) / static_cast<double>(scale_y);
  const RequantWords whole = TfLiteMultiplier(scale);
  if (whole.multiplier == 0) return {};
  int32_t shift = 63 - std::countl_zero(static_cast<uint64_t>(n));
  if (shift > 32) shift = 32;
  // 31 + the shift that frexp gives: 62 - rshift.
  if (shift > 62 - whole.rshift) shift = 62 - whole.rshift;
  const int64_t divided = (int64_t{whole.multiplier} << shift) / n;
  return {static_cast<int32_t>(divided), whole.rshift + shift};
}

// Optimised: y = two_step_up(sum of q) + bias.
struct TfLiteMeanFactors {
  RequantWords m;
  int32_t bias = 0;
};
inline constexpr TfLiteMeanFactors TfLiteOptimisedMean(float scale_x, int32_t zero_x, float scale_y,
                                                       int32_t zero_y, int64_t n) {
  const float unit = static_cast<float>(n) * scale_y;
  const float zero = static_cast<float>(zero_x) * scale_x;
  const float real = zero / scale_y;
  constexpr float kFar = 1e9f;  // beyond it LiteRT's conversion to an integer is undefined
  const float bounded = real > kFar ? kFar : real < -kFar ? -kFar : real;
  const float away = bounded > 0 ? bounded + 0.5f : bounded - 0.5f;
  return {TfLiteMultiplier(static_cast<double>(scale_x / unit)),
          zero_y - static_cast<int32_t>(away)};
}

// --- one byte
// ---------------------------------------------------------------------------------------
// LeakyReLU: S_x / S_y and S_x alpha / S_y in binary32, two steps each.
inline constexpr int32_t TfLiteLeakyRelu(int32_t v, float scale_x, float alpha, float scale_y) {
  const float negative = scale_x * alpha;
  const float scale = v >= 0 ? scale_x / scale_y : negative / scale_y;
  const bool minus = scale < 0;  // alpha < 0: the sign goes to v
  const RequantWords m = TfLiteMultiplier(static_cast<double>(minus ? -scale : scale));
  return MultiplyTwoStep(minus ? -v : v, m.multiplier, m.rshift);
}

// PRelu, without Z_y: v = x - Z_x by S_x / S_y in binary32; below 0 its product with
// slope - Z_slope by S_x S_slope / S_y, two steps each.
inline constexpr int32_t TfLitePRelu(int32_t v, int32_t slope, float scale_x, float scale_slope,
                                     float scale_y) {
  const float product = scale_x * scale_slope;
  const float scale = v >= 0 ? scale_x / scale_y : product / scale_y;
  const RequantWords m = TfLiteMultiplier(static_cast<double>(scale));
  return MultiplyTwoStep(v >= 0 ? v : v * slope, m.multiplier, m.rshift);
}

// A part of an unsigned Concat, without Z_y: q m - Z_x m with m = S_x (1 / S_y), each operation in
// binary32, then half away from zero.
inline constexpr int32_t TfLiteConcatPart(int32_t q, float scale_x, int32_t zero_x, float scale_y) {
  const float inverse = 1.0f / scale_y;
  const float m = scale_x * inverse;
  const float bias = static_cast<float>(-zero_x) * m;
  const float product = static_cast<float>(q) * m;
  const float v = product + bias;
  constexpr float kFar = 1e6f;  // far outside a byte
  return RoundReal(v > kFar ? kFar : v < -kFar ? -kFar : v, RealRounding::kAway);
}

// Quantize from integers to integers: two steps by S_x / S_y in binary64.
inline constexpr int32_t TfLiteRescale(int32_t v, float scale_x, float scale_y) {
  const RequantWords m =
      TfLiteMultiplier(static_cast<double>(scale_x) / static_cast<double>(scale_y));
  return MultiplyTwoStep(v, m.multiplier, m.rshift);
}

inline constexpr int32_t TfLiteRescaleUp(int32_t v, float scale_x, float scale_y) {
  const RequantWords m =
      TfLiteMultiplier(static_cast<double>(scale_x) / static_cast<double>(scale_y));
  return MultiplyTwoStepUp(v, m.multiplier, m.rshift);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_TFLITE_H_
