// How the elements of a reduction lie in memory: runs of neighbours, kept or reduced.
#ifndef RSHIFT_RUNTIME_F32_REDUCE_PLAN_H_
#define RSHIFT_RUNTIME_F32_REDUCE_PLAN_H_

#include <array>
#include <cstdint>
#include <memory>

#include "isa/functions.h"
#include "runtime/f32/broadcast.h"
#include "runtime/step.h"

namespace rshift::f32 {

// A walk over some of the source's dimensions, last one fastest. Those of one element are left out,
// neighbours that run on into each other are one.
struct Dims {
  int rank = 0;
  int64_t total = 1;
  std::array<int64_t, kMaxRank> size{}, stride{};

  void Append(int64_t dim, int64_t step);
  int64_t Offset(int64_t index) const {
    if (rank == 1) return index * stride[0];
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; --d) {
      offset += index % size[d] * stride[d];
      index /= size[d];
    }
    return offset;
  }
};

struct ReducePlan {
  Dims kept;
  Dims reduced;  // without its innermost dimension, which is `run`
  int64_t run = 1, run_stride = 0;
  int64_t count = 1;  // elements reduced for one output
  int64_t width = 1;  // outputs whose elements are neighbours: the last dimension, when it is kept
  bool rows = false;  // the elements of a run are neighbours
};

ReducePlan MakeReducePlan(const StepContext& context);

// Products and LogSumExp of `lanes` neighbouring outputs, at most kMaxScalarLanes: in double,
// element by element in memory order.
inline constexpr int64_t kMaxScalarLanes = 16;
void ReduceProduct(const ReducePlan& plan, const float* base, int64_t lanes, float* out);
void ReduceLogSumExp(const ReducePlan& plan, const float* base, int64_t lanes, float* out);

// Of s32, s64 or bool.
std::unique_ptr<Step> MakeIntegerReduction(const StepContext& context, ReduceOp mode);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_REDUCE_PLAN_H_
