// kAveragePoolF32, NHWC. The divisor is the number of taps inside the image or, counting pads,
// inside image and pads; taps that only ceil_mode adds behind the pads never count.
#include "runtime/f32/makers.h"
#include "runtime/f32/portable.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"
#include "runtime/steps/pool_shape.h"

namespace rshift::f32 {
namespace {

// One window over each image of one channel, whose pixels are neighbours: summed as rows are.
bool IsMeanOfPlanes(const PoolShape& s) {
  const bool dense = s.channels == 1 && s.src_pitch == 1 && s.dst_pitch == 1;
  const bool whole = s.kernel_h == s.ih && s.kernel_w == s.iw && s.pad_top == 0 && s.pad_left == 0;
  return dense && whole && s.oh == 1 && s.ow == 1 && s.dilation_h == 1 && s.dilation_w == 1;
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePoolF32& c) {
  const PoolShape shape(context, c.window);
  const bool count_pads = c.count_include_pad;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  const RowKernels* loops = &RowKernelsFor(context.isa);
  if (IsMeanOfPlanes(shape)) {
    const int64_t pixels = shape.ih * shape.iw;
    const double factor = 1.0 / static_cast<double>(pixels);
    return StepFrom([=](const Team& team) {
      const Range range = ThreadRange(shape.batch, 1, team);
      for (int64_t image = range.begin; image < range.end; ++image)
        out[image] = static_cast<float>(loops->sum(in + image * pixels, pixels, false) * factor);
    });
  }
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
