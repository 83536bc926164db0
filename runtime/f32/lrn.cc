// kLrnF32: y = x / (bias + alpha/size * sum of squares of `size` neighbouring channels)^beta.
#include "base/portable_math.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

float Power(float x, float y) { return static_cast<float>(portable::Pow(x, y)); }

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LrnF32& c) {
  const AxisView view = ViewAlong(context.Record(Field::kSrc).shape, c.axis);
  // An even window reaches one further up than down (ONNX: floor and ceil of (size - 1) / 2).
  const int64_t below = (c.size - 1) / 2, above = c.size - 1 - below;
  const double alpha = static_cast<double>(c.alpha) / c.size;
  const double bias = c.bias;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=, beta = c.beta](const Team& team) {
    const Range range = ThreadRange(view.outer * view.size * view.inner, kCacheLine, team);
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
      out[at] = in[at] / Power(static_cast<float>(bias + alpha * squares), beta);
    }
  });
}

}  // namespace rshift::f32
