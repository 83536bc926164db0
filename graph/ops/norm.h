// Normalizations and softmax.
#ifndef RSHIFT_GRAPH_OPS_NORM_H_
#define RSHIFT_GRAPH_OPS_NORM_H_

#include <cstdint>

namespace rshift {

// inputs: x, scale, bias, mean, variance (each [C], C = ONNX dimension 1). Always removed by the
// passes: folded into a convolution or turned into a multiplication and an addition.
struct BatchNorm {
  float epsilon = 1e-5f;
};

// inputs: x, scale, bias (optional); normalizes over the dimensions from `axis` to the last.
struct LayerNorm {
  int64_t axis = -1;
  float epsilon = 1e-5f;
};

// inputs: x, scale [C], bias [C].
struct InstanceNorm {
  float epsilon = 1e-5f;
};

// Across channels: y = x / (bias + alpha/size * sum of squares of `size` neighbours)^beta.
// `axis` is the channel dimension in memory order (1 as imported, 3 after the layout pass).
struct Lrn {
  int64_t size = 5;
  float alpha = 1e-4f, beta = 0.75f, bias = 1.0f;
  int64_t axis = 1;
};

// Over one axis (opset < 13 forms that flatten are imported as Reshape, Softmax, Reshape).
struct Softmax {
  int64_t axis = -1;
  bool log = false;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_NORM_H_
