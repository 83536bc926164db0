// The operators that multiply by weights.
#ifndef RSHIFT_GRAPH_CONV_OR_MATMUL_H_
#define RSHIFT_GRAPH_CONV_OR_MATMUL_H_

#include <variant>

#include "graph/op.h"

namespace rshift {

// Conv, ConvTranspose or MatMul, whether its weights are constant or not.
inline bool IsConvOrMatMul(const Op& op) {
  return std::holds_alternative<Conv>(op) || std::holds_alternative<ConvTranspose>(op) ||
         std::holds_alternative<MatMul>(op);
}

}  // namespace rshift

#endif  // RSHIFT_GRAPH_CONV_OR_MATMUL_H_
