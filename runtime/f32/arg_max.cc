// kArgMax / ArgMin along one axis; ties: the first, or the last with flag bit 1.
#include "base/element_type.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

template <typename T, bool kMin, bool kLast>
int64_t BestIndex(const T* in, int64_t size, int64_t stride) {
  int64_t best = 0;
  T value = in[0];
  for (int64_t i = 1; i < size; ++i) {
    const T x = in[i * stride];
    const bool better = kMin ? x < value : x > value;
    if (better || (kLast && x == value)) {
      value = x;
      best = i;
    }
  }
  return best;
}

template <typename T>
std::unique_ptr<Step> MakeFor(const StepContext& context, const isa::ArgMax& c) {
  const AxisView view = ViewAlong(context.Record(Field::kSrc).shape, c.axis);
  using Function = int64_t (*)(const T*, int64_t, int64_t);
  const Function best =
      c.min ? (c.select_last_index ? BestIndex<T, true, true> : BestIndex<T, true, false>)
            : (c.select_last_index ? BestIndex<T, false, true> : BestIndex<T, false, false>);
  const T* in = context.In<T>(Field::kSrc);
  int64_t* out = context.Out<int64_t>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(view.outer * view.inner, 8, team);
    for (int64_t line = range.begin; line < range.end; ++line) {
      const int64_t at = line / view.inner * view.size * view.inner + line % view.inner;
      out[line] = best(in + at, view.size, view.inner);
    }
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ArgMax& c) {
  RequireType(context, Field::kSrc,
              {DType::kF32, DType::kS8, DType::kU8, DType::kS16, DType::kS32, DType::kS64});
  return VisitElement(context.Record(Field::kSrc).dtype, [&](auto type) -> std::unique_ptr<Step> {
    using T = ElementOf<decltype(type)>;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int8_t> ||
                  std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t> ||
                  std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
      return MakeFor<T>(context, c);
    } else {
      return nullptr;  // not reached: RequireType
    }
  });
}

}  // namespace rshift::f32
