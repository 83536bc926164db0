// Functions of one element.
#ifndef RSHIFT_GRAPH_OPS_ACTIVATION_H_
#define RSHIFT_GRAPH_OPS_ACTIVATION_H_

#include "isa/attributes.h"

namespace rshift {

// Relu, Relu6, Clip with constant bounds.
struct Clip {
  Clamp clamp;
};

// y = x >= 0 ? x : alpha * x
struct LeakyRelu {
  float alpha = 0.01f;
};

// inputs: x, slope (constant or not, broadcast to x from the right as in ONNX).
struct PRelu {};

// alpha and beta: where isa/functions.def names them.
struct Unary {
  UnaryOp op = UnaryOp::kSigmoid;
  float alpha = 0.0f;
  float beta = 0.0f;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_ACTIVATION_H_
