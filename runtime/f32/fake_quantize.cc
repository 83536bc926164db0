// kFakeQuantizeF32: isa/fake_quantize.h, with a range for each index along one axis or one for all.
#include "isa/fake_quantize.h"

#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::FakeQuantizeF32& c) {
  const AxisView view = ViewAlong(context.Record(Field::kSrc).shape, c.axis);
  const int64_t total = NumElements(context.Record(Field::kSrc).shape);
  if (total == 0) return NothingToDo();
  const bool one = context.Record(Field::kSrc2).shape[0] == 1;
  const float* in = context.In<float>(Field::kSrc);
  const float* ranges = context.In<float>(Field::kSrc2);
  float* out = context.Out<float>(Field::kDst);
  const auto steps = static_cast<float>(c.levels - 1);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, kCacheLine, team);
    for (int64_t at = range.begin; at < range.end; ++at) {
      const float* r = ranges + (one ? 0 : at / view.inner % view.size * 4);
      out[at] = FakeQuantized(in[at], {r[0], r[1], r[2], r[3]}, steps);
    }
  });
}

}  // namespace rshift::f32
