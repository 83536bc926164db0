// kClipF32, kLeakyReluF32, kPReluF32.
#include "runtime/f32/broadcast.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// out[i] = function(in[i]) over a whole tensor; the output may be the input.
template <typename F>
std::unique_ptr<Step> MakeElementwise(const StepContext& context, F function) {
  RequireType(context, Field::kSrc, {DType::kF32});
  RequireType(context, Field::kDst, {DType::kF32});
  RequireSameShape(context, Field::kDst, Field::kSrc);
  const int64_t total = NumElements(context.Record(Field::kDst).shape);
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, 64, team);
#pragma omp simd
    for (int64_t i = range.begin; i < range.end; ++i) out[i] = function(in[i]);
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

std::unique_ptr<Step> MakeClip(const StepContext& context) {
  return MakeElementwise(context, ReadClamp(context));
}

std::unique_ptr<Step> MakeLeakyRelu(const StepContext& context) {
  const float alpha = context.command->GetFloat(Field::kAlphaF);
  return MakeElementwise(context, [alpha](float x) { return Leak(x, alpha); });
}

std::unique_ptr<Step> MakePRelu(const StepContext& context) {
  for (const Field field : {Field::kDst, Field::kSrc, Field::kSrc2}) {
    RequireType(context, field, {DType::kF32});
  }
  RequireSameShape(context, Field::kDst, Field::kSrc);
  BroadcastPlan plan;
  RequireShape(
      MakeBroadcastPlan(context.Record(Field::kDst).shape,
                        {&context.Record(Field::kSrc).shape, &context.Record(Field::kSrc2).shape},
                        &plan),
      context, Field::kSrc2, "one that broadcasts to the source");
  const float* x = context.In<float>(Field::kSrc);
  const float* slope = context.In<float>(Field::kSrc2);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const int64_t slope_stride = plan.strides[1][plan.rank - 1];
    ForEachRow(plan, ThreadRange(plan.total, 64, team),
               [&](int64_t at, const auto& offsets, int64_t count) {
                 PReluRow(x + at, slope + offsets[1], slope_stride, out + at, count);
               });
  });
}

}  // namespace rshift::f32
