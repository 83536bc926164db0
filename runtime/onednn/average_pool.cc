// kAveragePoolF32, NHWC. The divisor is the number of taps inside the image or, counting pads,
// inside image and pads; taps that only ceil_mode adds behind the pads never count.
#include <algorithm>

#include "runtime/f32/step_tools.h"
#include "runtime/onednn/makers.h"
#include "runtime/steps/pool_shape.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePoolF32& c) {
  const PoolShape shape(context, c.window);
  const bool count_pads = c.count_include_pad;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    shape.ForEach(team, [&](const PoolBlock& b) {
      double sums[kPoolBlock];  // in memory order
      std::fill_n(sums, b.count, 0.0);
      for (int64_t i = b.rows.begin; i < b.rows.end; ++i) {
        for (int64_t j = b.columns.begin; j < b.columns.end; ++j) {
          const float* tap =
              in + b.c +
              shape.Offset(b.image, b.y0 + i * shape.dilation_h, b.x0 + j * shape.dilation_w);
#pragma omp simd
          for (int64_t k = 0; k < b.count; ++k) sums[k] += tap[k];
        }
      }
      const int64_t inside = b.rows.count() * b.columns.count();
      const auto divisor = static_cast<double>(count_pads ? shape.PaddedTaps(b.y0, b.x0) : inside);
      float* to = out + b.m * shape.dst_pitch + b.c;
      for (int64_t k = 0; k < b.count; ++k) to[k] = static_cast<float>(sums[k] / divisor);
    });
  });
}

}  // namespace rshift::f32
