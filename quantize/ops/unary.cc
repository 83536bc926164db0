// The functions behind the table activations, in binary64. A table is computed once, when a model
// is deployed, and stored in the file: the runtime needs none of this, and its bytes do not depend
// on a CPU's libm.
#include <cmath>

#include "quantize/numerics/elementary.h"
#include "quantize/numerics/quantize.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

double Sigmoid(double v) { return numerics::Logistic(v); }
double Softplus(double v) {
  return v > 0 ? v + std::log1p(numerics::Exp(-v)) : std::log1p(numerics::Exp(v));
}
double HardSigmoid(double v, double alpha, double beta) {
  return std::fmin(std::fmax(alpha * v + beta, 0.0), 1.0);
}
double GeluTanh(double v) {
  return 0.5 * v * (1.0 + numerics::Tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
}
double Elu(double v, double alpha) { return v >= 0 ? v : alpha * numerics::Expm1(v); }

double Activation(const Unary& op, double v) {
  const double alpha = op.alpha, beta = op.beta;
  switch (op.op) {
    case UnaryOp::kSigmoid:
      return Sigmoid(v);
    case UnaryOp::kTanh:
      return numerics::Tanh(v);
    case UnaryOp::kHardSigmoid:
      return HardSigmoid(v, alpha, beta);
    case UnaryOp::kHardSwish:
      return v * HardSigmoid(v, 1.0 / 6.0, 0.5);
    case UnaryOp::kElu:
      return Elu(v, alpha);
    case UnaryOp::kSelu:
      return beta * Elu(v, alpha);
    case UnaryOp::kSoftplus:
      return Softplus(v);
    case UnaryOp::kSoftsign:
      return v / (1.0 + std::fabs(v));
    case UnaryOp::kGelu:
      return 0.5 * v * (1.0 + std::erf(v * 0.7071067811865476));
    case UnaryOp::kGeluTanh:
      return GeluTanh(v);
    case UnaryOp::kMish:
      return v * numerics::Tanh(Softplus(v));
    case UnaryOp::kSilu:
      return v * Sigmoid(v);
    case UnaryOp::kThresholdedRelu:
      return v > alpha ? v : 0.0;
    case UnaryOp::kCelu:
      return v >= 0 ? v : alpha * numerics::Expm1(v / alpha);
    default:
      return std::nan("");  // see Evaluate()
  }
}

}  // namespace

double Evaluate(const Unary& op, double v) {
  switch (op.op) {
    case UnaryOp::kExp:
      return numerics::Exp(v);
    case UnaryOp::kLog:
      return std::log(v);
    case UnaryOp::kSqrt:
      return std::sqrt(v);
    case UnaryOp::kReciprocal:
      return 1.0 / v;
    case UnaryOp::kAbs:
      return std::fabs(v);
    case UnaryOp::kNeg:
      return -v;
    case UnaryOp::kFloor:
      return std::floor(v);
    case UnaryOp::kCeil:
      return std::ceil(v);
    case UnaryOp::kRound:
      return numerics::RoundHalfEven(v);
    case UnaryOp::kErf:
      return std::erf(v);
    case UnaryOp::kSin:
      return std::sin(v);
    case UnaryOp::kCos:
      return std::cos(v);
    case UnaryOp::kSign:
      return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0;
    case UnaryOp::kTan:
      return std::tan(v);
    case UnaryOp::kAsin:
      return std::asin(v);
    case UnaryOp::kAcos:
      return std::acos(v);
    case UnaryOp::kAtan:
      return std::atan(v);
    case UnaryOp::kSinh:
      return std::sinh(v);
    case UnaryOp::kCosh:
      return std::cosh(v);
    case UnaryOp::kAsinh:
      return std::asinh(v);
    case UnaryOp::kAcosh:
      return std::acosh(v);
    case UnaryOp::kAtanh:
      return std::atanh(v);
    case UnaryOp::kSquare:
      return v * v;
    default:
      return Activation(op, v);
  }
}

OpSupport SupportUnary(const Unary& op) {
  if (op.op == UnaryOp::kNot) return {OpKind::kFloat, "works on bool"};
  return {OpKind::kFunction, ""};
}

}  // namespace rshift
