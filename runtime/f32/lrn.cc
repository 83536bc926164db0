// kLrnF32: y = x / (bias + alpha/size * sum of squares of `size` neighbouring channels)^beta.
#include <cmath>

#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeLrn(const StepContext& context) {
  RequireType(context, Field::kSrc, {DType::kF32});
  RequireType(context, Field::kDst, {DType::kF32});
  RequireSameShape(context, Field::kDst, Field::kSrc);
  const Shape& shape = context.Record(Field::kSrc).shape;
  const AxisView view =
      ViewAlong(shape, RequireAxis(context, context.command->Get(Field::kAxis), shape.size()));
  const int64_t size = context.command->Get(Field::kCount);
  RSHIFT_REQUIRE(size >= 1, ErrorCode::kCorrupt, Where(context), ": count is ", size,
                 ", expected at least 1: compile the model again");
  // An even window reaches one further up than down (ONNX: floor and ceil of (size - 1) / 2).
  const int64_t below = (size - 1) / 2, above = size - 1 - below;
  const double alpha = static_cast<double>(context.command->GetFloat(Field::kAlphaF)) / size;
  const double bias = context.command->GetFloat(Field::kBiasF);
  const float beta = context.command->GetFloat(Field::kBetaF);
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(view.outer * view.size * view.inner, 64, team);
    for (int64_t at = range.begin; at < range.end; ++at) {
      const int64_t channel = at / view.inner % view.size;
      const int64_t down = below < channel ? below : channel;
      const int64_t room = view.size - 1 - channel;
      const int64_t up = above < room ? above : room;
      double squares = 0;
      for (int64_t k = -down; k <= up; ++k) {
        const double value = in[at + k * view.inner];
        squares += value * value;
      }
      out[at] = in[at] / std::pow(static_cast<float>(bias + alpha * squares), beta);
    }
  });
}

}  // namespace rshift::f32
