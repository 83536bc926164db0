#include "runtime/f32/broadcast.h"

namespace rshift::f32 {
namespace {

// Strides of `shape` seen with dst's rank, 0 where a dimension of 1 is repeated.
std::array<int64_t, kMaxRank> BroadcastStrides(const Shape& shape, const Shape& dst) {
  const size_t lead = dst.size() - shape.size();
  int64_t stride = 1;
  std::array<int64_t, kMaxRank> strides{};
  for (size_t d = shape.size(); d-- > 0;) {
    strides[lead + d] = shape[d] == 1 ? 0 : stride;
    stride *= shape[d];
  }
  return strides;
}

}  // namespace

BroadcastPlan MakeBroadcastPlan(const Shape& dst, std::initializer_list<const Shape*> operands) {
  BroadcastPlan plan;
  std::array<std::array<int64_t, kMaxRank>, kMaxOperands> full{};
  for (const Shape* shape : operands) full[plan.operands++] = BroadcastStrides(*shape, dst);
  plan.total = NumElements(dst);
  int rank = 0;
  for (size_t d = 0; d < dst.size(); ++d) {
    if (dst[d] == 1) continue;
    // The dimension before can take this one in when each operand steps over it evenly (or repeats
    // both).
    bool merge = rank > 0;
    for (int o = 0; o < plan.operands; ++o) {
      merge = merge && plan.strides[o][rank - 1] == full[o][d] * dst[d];
    }
    if (!merge) ++rank;
    plan.dims[rank - 1] = merge ? plan.dims[rank - 1] * dst[d] : dst[d];
    for (int o = 0; o < plan.operands; ++o) plan.strides[o][rank - 1] = full[o][d];
  }
  if (rank == 0) {
    rank = 1;
    plan.dims[0] = 1;
  }
  plan.rank = rank;
  return plan;
}

}  // namespace rshift::f32
