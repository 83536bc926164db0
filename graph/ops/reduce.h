// Reductions.
#ifndef RSHIFT_GRAPH_OPS_REDUCE_H_
#define RSHIFT_GRAPH_OPS_REDUCE_H_

#include <cstdint>
#include <vector>

#include "isa/ops/reduce.h"

namespace rshift {

// axes in memory order, ascending; whether they are kept as 1 shows in the output shape.
struct Reduce {
  ReduceOp op = ReduceOp::kMean;
  std::vector<int64_t> axes;
};

// Output s64. min: ArgMin.
using isa::ArgMax;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_REDUCE_H_
