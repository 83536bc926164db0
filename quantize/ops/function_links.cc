#include "quantize/ops/function_links.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "quantize/ops/ops.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// Relu, or nothing.
bool KeepsScales(const Clamp& clamp) {
  return !clamp.active() ||
         (clamp.lo == 0.0f && clamp.hi == std::numeric_limits<float>::infinity());
}

FunctionLink Leaky(ValueId x, double alpha) {
  return {x, [alpha](double v) { return v < 0 ? alpha * v : v; }, true};
}

// The operand that is a constant of equal elements beside an activation of the output's shape: 0, 1
// or -1.
int NumberOperand(const Graph& graph, const Node& node) {
  for (int i = 0; i < 2; ++i) {
    const Value &constant = graph.value(node.inputs[i]), &x = graph.value(node.inputs[1 - i]);
    if (!constant.is_constant() || constant.dtype != DType::kF32 || x.is_constant() ||
        x.shape != graph.value(node.outputs[0]).shape)
      continue;
    const auto numbers = constant.constant->As<float>();
    const bool equal = std::all_of(numbers.begin(), numbers.end(),
                                   [&](float number) { return number == numbers[0]; });
    if (equal && !numbers.empty()) return i;
  }
  return -1;
}

}  // namespace

std::optional<FunctionLink> LinkOf(const Graph& graph, const Node& node) {
  const ValueId x = node.inputs.empty() ? ValueId() : node.inputs[0];
  const auto read = Overloaded{
      [&](const Unary& op) -> std::optional<FunctionLink> {
        if (op.op == UnaryOp::kNot) return {};
        auto f = [function = Unary(op.op, op.alpha, op.beta)](double v) {
          return Evaluate(function, v);
        };
        return FunctionLink{x, std::move(f), false, op.input_exponents, op.output_exponents};
      },
      [&](const Clip& op) -> std::optional<FunctionLink> {
        const double lo = op.clamp.lo, hi = op.clamp.hi;
        return FunctionLink{x, [=](double v) { return std::min(std::max(v, lo), hi); },
                            KeepsScales(op.clamp)};
      },
      [&](const LeakyRelu& op) -> std::optional<FunctionLink> {
        return Leaky(x, static_cast<double>(op.alpha));
      },
      [&](const PRelu&) -> std::optional<FunctionLink> {
        const Value& slope = graph.value(node.inputs[1]);
        if (!IsScalarConstant(slope)) return {};
        return Leaky(x, static_cast<double>(slope.constant->As<float>()[0]));
      },
      [&](const Binary& op) -> std::optional<FunctionLink> {
        const int scalar = NumberOperand(graph, node);
        if (scalar < 0 || kResultIsBool[static_cast<size_t>(op.op)]) return {};
        const bool factor = op.op == BinaryOp::kMul || (op.op == BinaryOp::kDiv && scalar == 1);
        return FunctionLink{node.inputs[1 - scalar], ScalarFunction(graph, node, op, scalar),
                            factor && KeepsScales(op.clamp)};
      },
      [](const auto&) -> std::optional<FunctionLink> { return {}; }};
  std::optional<FunctionLink> link = std::visit(read, node.op);
  const auto is_float = [&](ValueId id) { return graph.value(id).dtype == DType::kF32; };
  if (link && (!is_float(link->x) || !is_float(node.outputs[0]))) return {};
  return link;
}

}  // namespace rshift
