// Quantization whose scale comes from the tensor while the program runs.
#ifndef RSHIFT_GRAPH_ONNX_QDYNAMIC_H_
#define RSHIFT_GRAPH_ONNX_QDYNAMIC_H_

#include "graph/onnx/expr.h"

namespace rshift {

// What DynamicQuantizeLinear and then DequantizeLinear leave of x. NUMERICS.md section 21.
Expr QuantizedDynamically(const Expr& x);

// Attribute of our own: an LSTM quantizes its state so before each product.
inline constexpr char kQuantizesState[] = "rshift_quantizes_state";

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_QDYNAMIC_H_
