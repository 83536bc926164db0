// Element-wise operators on two or three tensors, with numpy broadcasting.
#ifndef RSHIFT_GRAPH_OPS_ELTWISE_H_
#define RSHIFT_GRAPH_OPS_ELTWISE_H_

#include "isa/ops/eltwise.h"

namespace rshift {

// inputs: a, b. Sum/Mean/Min/Max of many are imported as chains, left to right.
using Binary = isa::BinaryF32;

// inputs: condition (bool), a, b.
using isa::Where;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_ELTWISE_H_
