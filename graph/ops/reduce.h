// Reductions.
#ifndef RSHIFT_GRAPH_OPS_REDUCE_H_
#define RSHIFT_GRAPH_OPS_REDUCE_H_

#include <cstdint>
#include <vector>

namespace rshift {

// Numbered for the file format: append only.
enum class ReduceOp : uint8_t {
  kMean = 0,
  kSum = 1,
  kMax = 2,
  kMin = 3,
  kProd = 4,
  kL1 = 5,
  kL2 = 6,
  kSumSquare = 7,
  kLogSumExp = 8,
  kLogSum = 9,
};

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
