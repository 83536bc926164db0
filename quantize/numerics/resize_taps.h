// The taps of linear and cubic interpolation along one axis: coordinates and weights in f32 by the
// expressions of ONNX Runtime's upsample.cc. Both F32 steps and integer coefficients (resize.h) are
// made from them.
#ifndef RSHIFT_QUANTIZE_NUMERICS_RESIZE_TAPS_H_
#define RSHIFT_QUANTIZE_NUMERICS_RESIZE_TAPS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "isa/functions.h"

namespace rshift::numerics {

struct ResizeAxis {
  CoordinateMode mode = CoordinateMode::kHalfPixel;
  float scale = 1;
  int64_t in = 1, out = 1;
};

struct ResizeTap {
  int64_t index = 0;  // along the axis, in [0, in)
  float weight = 0;
};

inline float SourceCoordinate(const ResizeAxis& axis, float at) {
  const float in = static_cast<float>(axis.in), out = static_cast<float>(axis.out);
  switch (axis.mode) {
    case CoordinateMode::kHalfPixel:
      return (at + 0.5f) / axis.scale - 0.5f;
    case CoordinateMode::kPytorchHalfPixel:
      return out > 1 ? (at + 0.5f) / axis.scale - 0.5f : 0.0f;
    case CoordinateMode::kAlignCorners:
      return out == 1 ? 0.0f : at * (in - 1) / (out - 1);
    case CoordinateMode::kAsymmetric:
      return at / axis.scale;
    case CoordinateMode::kHalfPixelSymmetric: {
      const float adjustment = out / (axis.scale * in);
      const float offset = in / 2 * (1 - adjustment);
      return offset + (at + 0.5f) / axis.scale - 0.5f;
    }
  }
  return at;
}

inline std::array<ResizeTap, 2> LinearTaps(const ResizeAxis& axis, int64_t at) {
  const float last = static_cast<float>(axis.in - 1);
  const float x = std::clamp(SourceCoordinate(axis, static_cast<float>(at)), 0.0f, last);
  const int64_t low = std::min(static_cast<int64_t>(x), axis.in - 1);
  const int64_t high = std::min(low + 1, axis.in - 1);
  float to_low = std::fabs(x - low), to_high = std::fabs(x - high);
  if (low == high) to_low = to_high = 0.5f;
  return {{{low, to_high}, {high, to_low}}};
}

inline std::array<float, 4> CubicWeights(float s, float a) {
  return {((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a,
          ((a + 2) * s - (a + 3)) * s * s + 1,
          ((a + 2) * (1 - s) - (a + 3)) * (1 - s) * (1 - s) + 1,
          ((a * (2 - s) - 5 * a) * (2 - s) + 8 * a) * (2 - s) - 4 * a};
}

inline std::array<ResizeTap, 4> CubicTaps(const ResizeAxis& axis, float cubic_a,
                                          bool exclude_outside, int64_t at) {
  const float x = SourceCoordinate(axis, static_cast<float>(at));
  const float low = std::floor(x);
  std::array<float, 4> weights = CubicWeights(x - low, cubic_a);
  // Further out, every tap is the outermost element, and the number need not fit an integer.
  const auto edge = static_cast<float>(axis.in + 4);
  const int64_t first = static_cast<int64_t>(std::clamp(low, -edge, edge)) - 1;
  if (exclude_outside) {
    float sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      if (first + k < 0 || first + k >= axis.in) weights[k] = 0;
      sum += weights[k];
    }
    for (float& weight : weights) weight /= sum;
  }
  std::array<ResizeTap, 4> taps;
  for (int64_t k = 0; k < 4; ++k) {
    taps[k] = {std::clamp<int64_t>(first + k, 0, axis.in - 1), weights[k]};
  }
  return taps;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_RESIZE_TAPS_H_
