#include "runtime/f32/reduce_plan.h"

#include "runtime/f32/step_tools.h"

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
  RequireShape(shape.size() <= kMaxRank, context, Field::kSrc, "at most 8 dimensions");
  std::array<bool, kMaxRank> reduce{};
  const TensorRecord& list = context.Record(Field::kList);
  RequireType(context, Field::kList, {DType::kS64});
  const int64_t* axes = context.In<int64_t>(Field::kList);
  for (int64_t i = 0; i < NumElements(list.shape); ++i) {
    reduce[RequireAxis(context, axes[i], shape.size())] = true;
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
