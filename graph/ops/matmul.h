// Matrix products. Gemm is imported as MatMul: transposes and alpha/beta of constants are folded
// into them, others become Transpose and Binary nodes.
#ifndef RSHIFT_GRAPH_OPS_MATMUL_H_
#define RSHIFT_GRAPH_OPS_MATMUL_H_

#include "isa/attributes.h"

namespace rshift {

// inputs: a [..., M, K], b [..., K, N] (numpy broadcasting of the leading dims), bias [N]
// (optional).
struct MatMul {
  Clamp clamp;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_MATMUL_H_
