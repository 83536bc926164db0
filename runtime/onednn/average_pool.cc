// kAveragePoolF32, NHWC. The divisor is the number of taps inside the image or, counting pads,
// inside image and pads; taps that only ceil_mode adds behind the pads never count.
#include <algorithm>
#include <array>

#include "runtime/f32/step_tools.h"
#include "runtime/onednn/makers.h"
#include "runtime/onednn/window_axis.h"

namespace rshift::f32 {
namespace {

constexpr int64_t kChannelBlock = 64;

// Taps [begin, end) of a window lie inside the image; `counted` of them enter the divisor.
struct Taps {
  int64_t origin = 0;  // image coordinate of tap 0
  int64_t begin = 0, end = 0;
  int64_t counted = 0;
};

Taps TapsAt(const WindowAxis& axis, int64_t out, bool count_pads) {
  Taps taps;
  taps.origin = out * axis.stride - axis.pad_before;
  // The first tap at or behind `bound`.
  const auto first = [&](int64_t bound) {
    const int64_t distance = std::max<int64_t>(bound - taps.origin, 0);
    return std::min(axis.kernel, (distance + axis.dilation - 1) / axis.dilation);
  };
  taps.begin = first(0);
  taps.end = std::max(taps.begin, first(axis.in));
  taps.counted = taps.end - taps.begin;
  if (count_pads) {
    // Nothing lies before the pads: the first window starts on them.
    const int64_t room = axis.in + axis.pad_after - 1 - taps.origin;
    taps.counted = room < 0 ? 0 : std::min(axis.kernel, room / axis.dilation + 1);
  }
  return taps;
}

struct Plan {
  WindowAxis h, w;
  int64_t batch = 1, channels = 1;
  bool count_pads = false;
};

// Output (n, y, x), channels [begin, begin + width). Summed in double, in memory order.
void PoolBlock(const Plan& plan, const float* image, const Taps& rows, const Taps& columns,
               int64_t width, float* out) {
  std::array<double, kChannelBlock> sums{};
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const int64_t y = rows.origin + i * plan.h.dilation;
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      const int64_t x = columns.origin + j * plan.w.dilation;
      const float* from = image + (y * plan.w.in + x) * plan.channels;
#pragma omp simd
      for (int64_t c = 0; c < width; ++c) sums[c] += from[c];
    }
  }
  const int64_t counted = rows.counted * columns.counted;
  const double divisor = counted > 0 ? static_cast<double>(counted) : 1.0;
  for (int64_t c = 0; c < width; ++c) out[c] = static_cast<float>(sums[c] / divisor);
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePoolF32& c) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const Plan plan{VerticalAxis(context, c.window), HorizontalAxis(context, c.window), src[0],
                  src[3], c.count_include_pad};
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  const int64_t blocks = (plan.channels + kChannelBlock - 1) / kChannelBlock;
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(plan.batch * plan.h.out * plan.w.out * blocks, 1, team);
    for (int64_t item = range.begin; item < range.end; ++item) {
      const int64_t channel = item % blocks * kChannelBlock, pixel = item / blocks;
      const int64_t x = pixel % plan.w.out, y = pixel / plan.w.out % plan.h.out;
      const int64_t n = pixel / plan.w.out / plan.h.out;
      const float* image = in + n * plan.h.in * plan.w.in * plan.channels + channel;
      PoolBlock(plan, image, TapsAt(plan.h, y, plan.count_pads), TapsAt(plan.w, x, plan.count_pads),
                std::min(plan.channels - channel, kChannelBlock),
                out + pixel * plan.channels + channel);
    }
  });
}

}  // namespace rshift::f32
