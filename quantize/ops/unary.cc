// The functions behind the table activations, in binary64. A table is computed once, when a model
// is deployed, and stored in the file: the runtime needs none of this, and its bytes do not depend
// on a CPU's libm.
#include "isa/unary_functions.h"
#include "quantize/ops/ops.h"

namespace rshift {
double Evaluate(const Unary& op, double v) {
  return kUnaryFunctions<PortableMath<double>>[static_cast<size_t>(op.op)](v, op.alpha, op.beta);
}

OpSupport SupportUnary(const Unary& op) {
  if (op.op == UnaryOp::kNot) return {OpKind::kFloat, "works on bool"};
  return {OpKind::kFunction, ""};
}

}  // namespace rshift
