// kClipF32, kLeakyReluF32, kPReluF32.
#include "runtime/f32/broadcast.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// Over a whole tensor; the output may be the input.
std::unique_ptr<Step> MakeElementwise(const StepContext& context, ElementFunction function,
                                      float alpha, float beta) {
  const int64_t total = NumElements(context.Record(Field::kDst).shape);
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, kCacheLine, team);
    function(in + range.begin, out + range.begin, range.end - range.begin, alpha, beta);
  });
}

float Leak(float x, float slope) { return Select(x < 0, x * slope, x); }

void PReluRow(const float* x, const float* slope, int64_t slope_stride, float* out, int64_t count) {
  if (slope_stride == 1) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = Leak(x[i], slope[i]);
    return;
  }
  const float factor = *slope;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = Leak(x[i], factor);
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ClipF32& c) {
  return MakeElementwise(context, RowKernelsFor(context.isa).clip, c.clamp.lo, c.clamp.hi);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LeakyReluF32& c) {
  return MakeElementwise(context, RowKernelsFor(context.isa).leaky_relu, c.alpha, 0.0f);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::PReluF32&) {
  const BroadcastPlan plan =
      MakeBroadcastPlan(context.Record(Field::kDst).shape,
                        {&context.Record(Field::kSrc).shape, &context.Record(Field::kSrc2).shape});
  const float* x = context.In<float>(Field::kSrc);
  const float* slope = context.In<float>(Field::kSrc2);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const int64_t slope_stride = plan.strides[1][plan.rank - 1];
    ForEachRow(plan, ThreadRange(plan.total, kCacheLine, team),
               [&](int64_t at, const auto& offsets, int64_t count) {
                 PReluRow(x + at, slope + offsets[1], slope_stride, out + at, count);
               });
  });
}

}  // namespace rshift::f32
