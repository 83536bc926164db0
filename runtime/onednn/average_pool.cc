// kAveragePoolF32, NHWC. The divisor is the number of taps inside the image or, counting pads,
// inside image and pads; taps that only ceil_mode adds behind the pads never count.
#include <algorithm>

#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"
#include "runtime/onednn/makers.h"
#include "runtime/steps/pool_shape.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePoolF32& c) {
  const PoolShape shape(context, c.window);
  const bool count_pads = c.count_include_pad;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  const RowKernels* loops = &RowKernelsFor(context.isa);
  return StepFrom([=](const Team& team) {
    shape.ForEach(team, [&](const PoolBlock& b) {
      double sums[kPoolBlock];  // in memory order
      std::fill_n(sums, kPoolBlock, 0.0);
      // Rows of the window as wide as the image are one.
      const bool whole = b.columns.count() == shape.iw && shape.dilation_h == 1;
      const int64_t rows = whole ? 1 : b.rows.count();
      const int64_t columns = b.columns.count() * (whole ? b.rows.count() : 1);
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t y = b.y0 + (b.rows.begin + i) * shape.dilation_h;
        const int64_t x = b.x0 + b.columns.begin * shape.dilation_w;
        const float* tap = in + b.c + shape.Offset(b.image, y, x);
        loops->sum_columns({tap, columns, shape.dilation_w * shape.src_pitch, b.count}, false,
                           sums);
      }
      const int64_t inside = b.rows.count() * b.columns.count();
      const auto divisor = static_cast<double>(count_pads ? shape.PaddedTaps(b.y0, b.x0) : inside);
      const double factor = 1.0 / divisor;
      float* to = out + b.m * shape.dst_pitch + b.c;
#pragma omp simd
      for (int64_t k = 0; k < b.count; ++k) to[k] = static_cast<float>(sums[k] * factor);
    });
  });
}

}  // namespace rshift::f32
