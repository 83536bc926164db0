#include "runtime/f32/conv_phases.h"

#include <algorithm>

namespace rshift::f32 {
namespace {

struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
};

// A tap along one axis.
struct AxisTap {
  int64_t k = 0, offset = 0;
};

struct AxisPhase {
  PhaseAxis axis;
  std::vector<AxisTap> taps;
};

std::vector<AxisPhase> AxisPhases(const WindowAxis& w, int64_t out, bool transposed) {
  std::vector<AxisPhase> phases;
  if (!transposed) {
    phases.push_back({{0, 1, out, w.stride}, {}});
    for (int64_t k = 0; k < w.kernel; ++k) phases[0].taps.push_back({k, k * w.dilation - w.pad});
    return phases;
  }
  // Output o reads input i where o + pad = i * stride + k * dilation.
  for (int64_t first = 0; first < std::min(w.stride, out); ++first) {
    AxisPhase phase{{first, w.stride, (out - first + w.stride - 1) / w.stride, 1}, {}};
    for (int64_t k = 0; k < w.kernel; ++k) {
      const int64_t distance = first + w.pad - k * w.dilation;
      if (distance % w.stride == 0) phase.taps.push_back({k, distance / w.stride});
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace

std::vector<ConvPhase> ConvPhases(const Window& window, const Shape& dst, bool transposed) {
  const WindowAxis h{window.kernel_h, window.stride_h, window.dilation_h, window.pad_top};
  const WindowAxis w{window.kernel_w, window.stride_w, window.dilation_w, window.pad_left};
  std::vector<ConvPhase> phases;
  const std::vector<AxisPhase> columns = AxisPhases(w, dst[2], transposed);
  for (const AxisPhase& y : AxisPhases(h, dst[1], transposed)) {
    for (const AxisPhase& x : columns) {
      ConvPhase phase{y.axis, x.axis, {}};
      for (const AxisTap& a : y.taps) {
        for (const AxisTap& b : x.taps)
          phase.taps.push_back({a.offset, b.offset, a.k * window.kernel_w + b.k});
      }
      phases.push_back(std::move(phase));
    }
  }
  return phases;
}

}  // namespace rshift::f32
