// kWhere: condition ? a : b, all three broadcast.
#include "runtime/f32/broadcast.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// Elements are moved as bits, so only their size matters.
template <typename T>
std::unique_ptr<Step> MakeFor(const StepContext& context) {
  const BroadcastPlan plan =
      MakeBroadcastPlan(context.Record(Field::kDst).shape,
                        {&context.Record(Field::kSrc).shape, &context.Record(Field::kSrc2).shape,
                         &context.Record(Field::kSrc3).shape});
  const auto* condition = context.In<uint8_t>(Field::kSrc);
  const T* a = context.In<T>(Field::kSrc2);
  const T* b = context.In<T>(Field::kSrc3);
  T* out = context.Out<T>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const int last = plan.rank - 1;
    const int64_t sc = plan.strides[0][last], sa = plan.strides[1][last],
                  sb = plan.strides[2][last];
    ForEachRow(plan, ThreadRange(plan.total, kCacheLine, team),
               [&](int64_t at, const auto& offsets, int64_t count) {
                 const uint8_t* c = condition + offsets[0];
                 const T* from_a = a + offsets[1];
                 const T* from_b = b + offsets[2];
                 for (int64_t i = 0; i < count; ++i) {
                   out[at + i] = c[i * sc] != 0 ? from_a[i * sa] : from_b[i * sb];
                 }
               });
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Where&) {
  switch (SizeOf(context.Record(Field::kDst).dtype)) {
    case 1:
      return MakeFor<uint8_t>(context);
    case 2:
      return MakeFor<uint16_t>(context);
    case 4:
      return MakeFor<uint32_t>(context);
    default:  // of eight bytes
      return MakeFor<uint64_t>(context);
  }
}

}  // namespace rshift::f32
