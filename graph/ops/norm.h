// Normalizations and softmax.
#ifndef RSHIFT_GRAPH_OPS_NORM_H_
#define RSHIFT_GRAPH_OPS_NORM_H_

#include "isa/ops/norm.h"

namespace rshift {

// inputs: x, scale, bias, mean, variance (each [C], C = ONNX dimension 1). Always removed by the
// passes: folded into a convolution or turned into a multiplication and an addition.
struct BatchNorm {
  float epsilon = 1e-5f;
};

// inputs: x, scale, bias (optional); normalizes over the dimensions from `axis` to the last.
using LayerNorm = isa::LayerNormF32;

// inputs: x, scale [C], bias [C].
using InstanceNorm = isa::InstanceNormF32;

// Across channels: y = x / (bias + alpha/size * sum of squares of `size` neighbours)^beta.
// `axis` is the channel dimension in memory order (1 as imported, 3 after the layout pass).
using Lrn = isa::LrnF32;

// Over one axis (opset < 13 forms that flatten are imported as Reshape, Softmax, Reshape).
using Softmax = isa::SoftmaxF32;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_NORM_H_
