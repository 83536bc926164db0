// kAveragePoolF32, NHWC. The divisor is the number of taps inside the image or, counting pads,
// inside image and pads; taps that only ceil_mode adds behind the pads never count.
#include "runtime/f32/makers.h"
#include "runtime/f32/portable.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"
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
      const int64_t inside = b.rows.count() * b.columns.count();
      const int64_t divisor = count_pads ? shape.PaddedTaps(b.y0, b.x0) : inside;
      loops->window_mean(shape.FloatWindow(in, b), 1.0 / static_cast<double>(divisor),
                         out + b.m * shape.dst_pitch + b.c);
    });
  });
}

std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::AveragePoolF32& c) {
  return MakeStep(context, c);
}

}  // namespace rshift::f32
