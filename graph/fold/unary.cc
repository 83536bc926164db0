#include <algorithm>
#include <cmath>

#include "graph/fold/fold.h"
#include "isa/unary_functions.h"

namespace rshift {
namespace {

int64_t Negated(int64_t x) { return static_cast<int64_t>(0 - static_cast<uint64_t>(x)); }

// Null for what integers do not have.
using IntFunction = int64_t (*)(int64_t);
IntFunction FunctionOfInts(UnaryOp op) {
  switch (op) {
    case UnaryOp::kAbs:
      return [](int64_t x) { return x < 0 ? Negated(x) : x; };
    case UnaryOp::kNeg:
      return Negated;
    case UnaryOp::kSign:
      return [](int64_t x) { return int64_t{x > 0} - int64_t{x < 0}; };
    case UnaryOp::kNot:
      return [](int64_t x) { return int64_t{x == 0}; };
    case UnaryOp::kSquare:
      return [](int64_t x) {
        return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
      };
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kRound:
      return [](int64_t x) { return x; };
    default:  // of floats alone: the node stays
      return nullptr;
  }
}

}  // namespace

FoldResult FoldUnary(const Unary& op, const Value& x) {
  if (x.dtype != DType::kF32) {
    const IntFunction function = FunctionOfInts(op.op);
    if (function == nullptr) return nullptr;
    auto elements = LoadInts(x);
    for (int64_t& v : elements) v = function(v);
    return StoreInts(elements, x.dtype);
  }
  const auto in = x.constant->As<float>();
  std::vector<float> result(in.size());
  const auto function = kUnaryFunctions<PortableMath<float>>[static_cast<size_t>(op.op)];
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
