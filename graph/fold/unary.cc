#include <algorithm>
#include <cmath>

#include "graph/fold/fold.h"

namespace rshift {
namespace {

using Function = float (*)(float x, float alpha, float beta);

float Sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float Softplus(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))); }
float Elu(float x, float alpha) { return x >= 0.0f ? x : alpha * std::expm1(x); }
float Sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }
float HardSigmoid(float x, float alpha, float beta) {
  return std::clamp(alpha * x + beta, 0.0f, 1.0f);
}
float Gelu(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678118654752f)); }
float GeluTanh(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.79788456080286536f * (x + 0.044715f * x * x * x)));
}

// Indexed by UnaryOp.
constexpr Function kFunctions[] = {
    [](float x, float, float) { return Sigmoid(x); },
    [](float x, float, float) { return std::tanh(x); },
    HardSigmoid,
    [](float x, float, float) { return x * HardSigmoid(x, 1.0f / 6.0f, 0.5f); },
    [](float x, float alpha, float) { return Elu(x, alpha); },
    [](float x, float alpha, float gamma) {
      return gamma * (x > 0.0f ? x : alpha * std::expm1(x));
    },
    [](float x, float, float) { return Softplus(x); },
    [](float x, float, float) { return x / (1.0f + std::fabs(x)); },
    [](float x, float, float) { return std::exp(x); },
    [](float x, float, float) { return std::log(x); },
    [](float x, float, float) { return std::sqrt(x); },
    [](float x, float, float) { return 1.0f / x; },
    [](float x, float, float) { return std::fabs(x); },
    [](float x, float, float) { return -x; },
    [](float x, float, float) { return std::floor(x); },
    [](float x, float, float) { return std::ceil(x); },
    [](float x, float, float) { return std::nearbyint(x); },
    [](float x, float, float) { return std::erf(x); },
    [](float x, float, float) { return Gelu(x); },
    [](float x, float, float) { return GeluTanh(x); },
    [](float x, float, float) { return x * std::tanh(Softplus(x)); },
    [](float x, float, float) { return x * Sigmoid(x); },
    [](float x, float, float) { return std::sin(x); },
    [](float x, float, float) { return std::cos(x); },
    [](float x, float, float) { return Sign(x); },
    [](float x, float, float) { return x == 0.0f ? 1.0f : 0.0f; },
    [](float x, float alpha, float) { return x > alpha ? x : 0.0f; },
    [](float x, float alpha, float) {
      return std::max(x, 0.0f) + std::min(0.0f, alpha * std::expm1(x / alpha));
    },
    [](float x, float, float) { return std::tan(x); },
    [](float x, float, float) { return std::asin(x); },
    [](float x, float, float) { return std::acos(x); },
    [](float x, float, float) { return std::atan(x); },
    [](float x, float, float) { return std::sinh(x); },
    [](float x, float, float) { return std::cosh(x); },
    [](float x, float, float) { return std::asinh(x); },
    [](float x, float, float) { return std::acosh(x); },
    [](float x, float, float) { return std::atanh(x); },
    [](float x, float, float) { return x * x; },
};
static_assert(std::size(kFunctions) == static_cast<size_t>(UnaryOp::kSquare) + 1);

int64_t ApplyToInt(UnaryOp op, int64_t x) {
  const int64_t negated = static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  switch (op) {
    case UnaryOp::kAbs:
      return x < 0 ? negated : x;
    case UnaryOp::kNeg:
      return negated;
    case UnaryOp::kSign:
      return (x > 0) - (x < 0);
    case UnaryOp::kNot:
      return x == 0;
    case UnaryOp::kSquare:
      return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
    default:
      return x;  // Floor, Ceil, Round
  }
}

bool WorksOnInts(UnaryOp op) {
  return op == UnaryOp::kAbs || op == UnaryOp::kNeg || op == UnaryOp::kSign ||
         op == UnaryOp::kNot || op == UnaryOp::kSquare || op == UnaryOp::kFloor ||
         op == UnaryOp::kCeil || op == UnaryOp::kRound;
}

}  // namespace

FoldResult FoldUnary(const Unary& op, const Value& x) {
  if (x.dtype != DType::kF32) {
    if (!WorksOnInts(op.op)) return nullptr;
    auto elements = LoadInts(x);
    for (int64_t& v : elements) v = ApplyToInt(op.op, v);
    return StoreInts(elements, x.dtype);
  }
  const auto in = x.constant->As<float>();
  std::vector<float> result(in.size());
  const Function function = kFunctions[static_cast<size_t>(op.op)];
  for (size_t i = 0; i < in.size(); ++i) result[i] = function(in[i], op.alpha, op.beta);
  return MakeConstant<float>(result);
}

FoldResult FoldClip(const Clamp& clamp, const Value& x) {
  if (x.dtype != DType::kF32) return nullptr;
  const auto in = x.constant->As<float>();
  std::vector<float> result(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    result[i] = std::isnan(in[i]) ? in[i] : std::min(std::max(in[i], clamp.lo), clamp.hi);
  }
  return MakeConstant<float>(result);
}

}  // namespace rshift
