// The functions behind the table activations, in binary64. A table is computed once, when a model
// is deployed, and stored in the file: the runtime needs none of this, and its bytes do not depend
// on a CPU's libm.
#include "isa/unary_functions.h"
#include "quantize/numerics/elementary.h"
#include "quantize/numerics/quantize.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

struct TableMath {
  using Real = double;
  static double Exp(double x) { return numerics::Exp(x); }
  static double Expm1(double x) { return numerics::Expm1(x); }
  static double Tanh(double x) { return numerics::Tanh(x); }
  static double Logistic(double x) { return numerics::Logistic(x); }
  static double RoundHalfEven(double x) { return numerics::RoundHalfEven(x); }
};

}  // namespace

double Evaluate(const Unary& op, double v) {
  return kUnaryFunctions<TableMath>[static_cast<size_t>(op.op)](v, op.alpha, op.beta);
}

OpSupport SupportUnary(const Unary& op) {
  if (op.op == UnaryOp::kNot) return {OpKind::kFloat, "works on bool"};
  return {OpKind::kFunction, ""};
}

}  // namespace rshift
