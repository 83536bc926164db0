// Reductions.
#ifndef RSHIFT_GRAPH_OPS_REDUCE_H_
#define RSHIFT_GRAPH_OPS_REDUCE_H_

#include <cstdint>
#include <vector>

#include "isa/functions.h"

namespace rshift {

// axes in memory order, ascending; whether they are kept as 1 shows in the output shape.
struct Reduce {
  ReduceOp op = ReduceOp::kMean;
  std::vector<int64_t> axes;
};

// Output s64.
struct ArgMax {
  int64_t axis = 0;
  bool min = false;  // ArgMin
  bool select_last_index = false;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_REDUCE_H_
