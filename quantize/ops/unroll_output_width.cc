#include "quantize/ops/unroll_output_width.h"

#include <algorithm>

#include "quantize/ops/conv_cost.h"

namespace rshift {
namespace {

constexpr int64_t kMostChannels = 8, kMostPixels = 16, kSmallImage = 1024;

// Of a row of `width` pixels, with what is computed beyond it.
int64_t CostOf(const Shape& w, int64_t pixels, int64_t width) {
  return PixelCost(pixels * w[0], w[2] * (w[3] + pixels - 1), w[1]) *
         (RoundUp(width, pixels) / pixels);
}

}  // namespace

int64_t PixelsPerCommand(const Conv& op, const Shape& weights, const Shape& y) {
  const Window& o = op.window;
  const int64_t width = y[2];
  if (weights[0] == 0 || y[1] * width < kSmallImage) return 1;
  if (op.groups != 1 || weights[0] > kMostChannels || o.stride_w != 1 || o.dilation_w != 1)
    return 1;
  int64_t best = 1;
  for (int64_t pixels = 2; pixels <= std::min(kMostPixels, width); ++pixels) {
    if (CostOf(weights, pixels, width) < CostOf(weights, best, width)) best = pixels;
  }
  return best;
}

Window WidenWindow(const Window& window, int64_t pixels, int64_t in, int64_t width) {
  Window wide = window;
  wide.kernel_w += pixels - 1;
  wide.stride_w = pixels;
  const int64_t columns = RoundUp(width, pixels) / pixels;
  const int64_t reach = (columns - 1) * pixels + wide.kernel_w;  // from the left pad on
  wide.pad_right = std::max<int64_t>(reach - window.pad_left - in, 0);
  return wide;
}

std::vector<int8_t> WidenWeights(std::span<const int8_t> weights, const Shape& shape,
                                 int64_t pixels, std::span<const int32_t> fill) {
  const int64_t lines = shape[1] * shape[2], kernel_w = shape[3], wide = kernel_w + pixels - 1;
  std::vector<int8_t> result;
  result.reserve(static_cast<size_t>(pixels * shape[0] * lines * wide));
  for (int64_t j = 0; j < pixels; ++j) {
    for (int64_t oc = 0; oc < shape[0]; ++oc) {
      const auto zero = static_cast<int8_t>(fill.empty() ? 0 : fill[oc]);
      for (int64_t line = 0; line < lines; ++line) {
        const auto first = weights.begin() + (oc * lines + line) * kernel_w;
        result.insert(result.end(), j, zero);
        result.insert(result.end(), first, first + kernel_w);
        result.insert(result.end(), pixels - 1 - j, zero);
      }
    }
  }
  return result;
}

}  // namespace rshift
