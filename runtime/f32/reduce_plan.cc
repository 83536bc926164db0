#include "runtime/f32/reduce_plan.h"

#include "runtime/steps/lists.h"

namespace rshift::f32 {

void Dims::Append(int64_t dim, int64_t step) {
  total *= dim;
  if (dim == 1) return;
  if (rank > 0 && stride[rank - 1] == dim * step) {
    size[rank - 1] *= dim;
    stride[rank - 1] = step;
    return;
  }
  size[rank] = dim;
  stride[rank] = step;
  ++rank;
}

ReducePlan MakeReducePlan(const StepContext& context) {
  const Shape& shape = context.Record(Field::kSrc).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  std::array<bool, kMaxRank> reduce{};
  for (const int64_t axis : ReadList(context, Field::kList)) {
    reduce[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  ReducePlan plan;
  const Shape strides = Strides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    (reduce[d] ? plan.reduced : plan.kept).Append(shape[d], strides[d]);
  }
  plan.count = plan.reduced.total;
  const Dims& kept = plan.kept;
  if (kept.rank > 0 && kept.stride[kept.rank - 1] == 1) plan.width = kept.size[kept.rank - 1];
  if (plan.reduced.rank > 0 && plan.count > 0) {
    const int last = --plan.reduced.rank;
    plan.run = plan.reduced.size[last];
    plan.run_stride = plan.reduced.stride[last];
    plan.reduced.total /= plan.run;
    plan.rows = plan.run_stride == 1;
  }
  return plan;
}

}  // namespace rshift::f32
