// Quantization whose scale comes from the tensor while the program runs.
#ifndef RSHIFT_GRAPH_ONNX_QDYNAMIC_H_
#define RSHIFT_GRAPH_ONNX_QDYNAMIC_H_

#include <optional>

#include "graph/onnx/dynamic_product.h"
#include "graph/onnx/expr.h"

namespace rshift {

// What DynamicQuantizeLinear and then DequantizeLinear leave of x. NUMERICS.md section 21.
Expr QuantizedDynamically(const Expr& x);

// A matrix of bytes [K, N] and the scale of each column.
struct DynamicFactor {
  DynamicWeights weights;
  std::vector<float> scales;
};
// Of one direction of a recurrent layer: `input` are its bytes [directions, K, N], behind it scale
// and zero point, one or one a column. Nothing where no command has them.
std::optional<DynamicFactor> ReadDynamicFactor(OnnxNode& node, int input, int64_t direction);
// x [..., K], quantized while the program runs, times w.
Expr DynamicProduct(const Expr& x, const DynamicFactor& w);

// Attribute of our own: an LSTM quantizes its input and its state so before each product. The bytes
// of both matrices are inputs behind those that LSTM has.
inline constexpr char kQuantizesState[] = "rshift_quantizes_state";
inline constexpr int kInputBytes = 8, kStateBytes = 11;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_QDYNAMIC_H_
