// kArgMax / ArgMin along one axis; ties: the first, or the last with flag bit 1.
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
std::unique_ptr<Step> MakeFor(const StepContext& context, const AxisView& view) {
  using Function = int64_t (*)(const T*, int64_t, int64_t);
  constexpr Function kByFlags[] = {BestIndex<T, false, false>, BestIndex<T, true, false>,
                                   BestIndex<T, false, true>, BestIndex<T, true, true>};
  const Function best = kByFlags[context.command->Get(Field::kFlags) & 3];
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

std::unique_ptr<Step> MakeArgMax(const StepContext& context) {
  RequireType(context, Field::kSrc,
              {DType::kF32, DType::kS8, DType::kU8, DType::kS32, DType::kS64});
  RequireType(context, Field::kDst, {DType::kS64});
  const Shape& shape = context.Record(Field::kSrc).shape;
  const AxisView view =
      ViewAlong(shape, RequireAxis(context, context.command->Get(Field::kAxis), shape.size()));
  RequireShape(view.size > 0, context, Field::kSrc, "at least one element on the axis");
  RequireShape(NumElements(context.Record(Field::kDst).shape) == view.outer * view.inner, context,
               Field::kDst, "the source's without the axis");
  switch (context.Record(Field::kSrc).dtype) {
    case DType::kF32:
      return MakeFor<float>(context, view);
    case DType::kS8:
      return MakeFor<int8_t>(context, view);
    case DType::kU8:
      return MakeFor<uint8_t>(context, view);
    case DType::kS32:
      return MakeFor<int32_t>(context, view);
    default:
      return MakeFor<int64_t>(context, view);
  }
}

}  // namespace rshift::f32
