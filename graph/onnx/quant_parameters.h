// Scales and zero points of QuantizeLinear and DequantizeLinear.
#ifndef RSHIFT_GRAPH_ONNX_QUANT_PARAMETERS_H_
#define RSHIFT_GRAPH_ONNX_QUANT_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "graph/onnx/node.h"

namespace rshift {

// Scale and zero point as written: one of each, or one per index of `axis`.
struct QuantParameters {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int64_t axis = -1;  // of the tensor; -1: one for all
};

// `x`: the tensor as it is, integers of `type` on one side or the other. Throws kInvalidInput for
// scales that are no finite numbers above 0, and for shapes and types that do not fit.
QuantParameters ReadQuantParameters(const OnnxNode& node, const Shape& x, DType type);

// One zero point serves all channels.
bool SharesZero(const QuantParameters& p);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_QUANT_PARAMETERS_H_
