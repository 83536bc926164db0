// Numpy broadcasting as a walk over contiguous output rows.
#ifndef RSHIFT_RUNTIME_F32_BROADCAST_H_
#define RSHIFT_RUNTIME_F32_BROADCAST_H_

#include <array>
#include <cstdint>
#include <initializer_list>

#include "base/shape.h"
#include "isa/max_rank.h"
#include "runtime/step.h"

namespace rshift::f32 {

inline constexpr int kMaxOperands = 3;

// Dimensions are merged where every operand allows it: equal shapes become one dimension, a bias
// over the last dimension two. The innermost stride of an operand is 1 or, where it is broadcast,
// 0.
struct BroadcastPlan {
  int64_t total = 1;  // elements of the output
  int rank = 1;
  int operands = 0;
  std::array<int64_t, kMaxRank> dims{};
  std::array<std::array<int64_t, kMaxRank>, kMaxOperands> strides{};  // in elements
};

// Of operands that broadcast to `dst`, at most kMaxOperands.
BroadcastPlan MakeBroadcastPlan(const Shape& dst, std::initializer_list<const Shape*> operands);

// Calls row(dst offset, operand offsets, elements) for the elements [range.begin, range.end) of the
// output.
template <typename F>
void ForEachRow(const BroadcastPlan& plan, const Range& range, const F& row) {
  if (range.begin >= range.end) return;
  const int last = plan.rank - 1;
  const int64_t width = plan.dims[last];
  int64_t rest = range.begin / width, column = range.begin % width;
  std::array<int64_t, kMaxRank> index{};
  std::array<int64_t, kMaxOperands> offsets{};
  for (int o = 0; o < plan.operands; ++o) offsets[o] = column * plan.strides[o][last];
  for (int d = last - 1; d >= 0; --d) {
    index[d] = rest % plan.dims[d];
    rest /= plan.dims[d];
    for (int o = 0; o < plan.operands; ++o) offsets[o] += index[d] * plan.strides[o][d];
  }
  for (int64_t at = range.begin;;) {
    const int64_t left = range.end - at;
    const int64_t count = width - column < left ? width - column : left;
    row(at, offsets, count);
    at += count;
    if (at >= range.end) return;
    // Counted, not divided: divisions take longer than a short row.
    for (int o = 0; o < plan.operands; ++o) offsets[o] -= column * plan.strides[o][last];
    column = 0;
    for (int d = last - 1; d >= 0; --d) {
      for (int o = 0; o < plan.operands; ++o) offsets[o] += plan.strides[o][d];
      if (++index[d] < plan.dims[d]) break;
      for (int o = 0; o < plan.operands; ++o) offsets[o] -= plan.dims[d] * plan.strides[o][d];
      index[d] = 0;
    }
  }
}

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_BROADCAST_H_
