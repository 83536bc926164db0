// Matrix products. Gemm is imported as MatMul: transposes and alpha/beta of constants are folded
// into them, others become Transpose and Binary nodes.
#ifndef RSHIFT_GRAPH_OPS_MATMUL_H_
#define RSHIFT_GRAPH_OPS_MATMUL_H_

#include "isa/ops/matmul.h"

namespace rshift {

// inputs: a [..., M, K], b [..., K, N] (numpy broadcasting of the leading dims), bias [N]
// (optional).
using MatMul = isa::MatMulF32;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_MATMUL_H_
