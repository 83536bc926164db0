// Functions of one element.
#ifndef RSHIFT_GRAPH_OPS_ACTIVATION_H_
#define RSHIFT_GRAPH_OPS_ACTIVATION_H_

#include "isa/ops/activation.h"

namespace rshift {

// Relu, Relu6, Clip with constant bounds.
using Clip = isa::ClipF32;

// y = x >= 0 ? x : alpha * x
using LeakyRelu = isa::LeakyReluF32;

// inputs: x, slope (constant or not, broadcast to x from the right as in ONNX).
using PRelu = isa::PReluF32;

// alpha and beta: where isa/functions.def names them.
using Unary = isa::UnaryF32;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_ACTIVATION_H_
