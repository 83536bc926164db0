// kSoftmaxF32 over any axis: exp(x - max) / sum, or x - max - log(sum).
#include <cmath>

#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// One position of [outer, inner]: `size` values, `stride` apart. The output may be the input.
void SoftmaxLine(const float* in, float* out, int64_t size, int64_t stride, bool log) {
  float highest = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < size; ++i) {
    highest = in[i * stride] > highest ? in[i * stride] : highest;
  }
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const float shifted = in[i * stride] - highest;
    const float power = std::exp(shifted);
    sum += power;
    out[i * stride] = log ? shifted : power;
  }
  if (log) {
    const float log_sum = static_cast<float>(std::log(sum));
    for (int64_t i = 0; i < size; ++i) out[i * stride] -= log_sum;
  } else {
    const float factor = static_cast<float>(1.0 / sum);
    for (int64_t i = 0; i < size; ++i) out[i * stride] *= factor;
  }
}

}  // namespace

std::unique_ptr<Step> MakeSoftmax(const StepContext& context) {
  RequireType(context, Field::kSrc, {DType::kF32});
  RequireType(context, Field::kDst, {DType::kF32});
  RequireSameShape(context, Field::kDst, Field::kSrc);
  const Shape& shape = context.Record(Field::kSrc).shape;
  const AxisView view =
      ViewAlong(shape, RequireAxis(context, context.command->Get(Field::kAxis), shape.size()));
  const bool log = (context.command->Get(Field::kFlags) & 1) != 0;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = Part(view.outer * view.inner, view.inner == 1 ? 1 : 16, team);
    for (int64_t line = range.begin; line < range.end; ++line) {
      const int64_t at = line / view.inner * view.size * view.inner + line % view.inner;
      SoftmaxLine(in + at, out + at, view.size, view.inner, log);
    }
  });
}

}  // namespace rshift::f32
