// Element-wise operators on two or three tensors, with numpy broadcasting.
#ifndef RSHIFT_GRAPH_OPS_ELTWISE_H_
#define RSHIFT_GRAPH_OPS_ELTWISE_H_

#include <cstdint>

#include "graph/ops/common.h"

namespace rshift {

// Numbered for the file format: append only. From kEqual on the result is bool.
enum class BinaryOp : uint8_t {
  kAdd = 0,
  kSub = 1,
  kMul = 2,
  kDiv = 3,
  kPow = 4,
  kMin = 5,
  kMax = 6,
  kMod = 7,
  kEqual = 8,
  kLess = 9,
  kLessOrEqual = 10,
  kGreater = 11,
  kGreaterOrEqual = 12,
  kAnd = 13,
  kOr = 14,
  kXor = 15,
};

// inputs: a, b. Sum/Mean/Min/Max of many are imported as chains, left to right.
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  Clamp clamp;
};

// inputs: condition (bool), a, b.
struct Where {};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_ELTWISE_H_
