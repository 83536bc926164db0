#include "quantize/powers.h"

#include <algorithm>
#include <optional>
#include <span>

namespace rshift {
namespace {

constexpr float kLeastRaising = 2, kMostTakingBack = 0.5f;

bool IsActivation(const Graph& graph, ValueId id) {
  return id.valid() && !graph.value(id).is_constant();
}

// The exponent of a power of an activation.
std::optional<float> ExponentOf(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != BinaryOp::kPow) return {};
  const Value& exponent = graph.value(node.inputs[1]);
  if (!exponent.is_constant() || exponent.dtype != DType::kF32 || NumElements(exponent.shape) != 1)
    return {};
  return exponent.constant->As<float>()[0];
}

bool Raises(const Graph& graph, const Node& node) {
  if (!IsActivation(graph, node.inputs[0])) return false;
  if (const auto* unary = std::get_if<Unary>(&node.op)) return unary->op == UnaryOp::kSquare;
  if (const std::optional<float> exponent = ExponentOf(graph, node))
    return *exponent >= kLeastRaising;
  const auto* binary = std::get_if<Binary>(&node.op);
  return binary != nullptr && binary->op == BinaryOp::kMul && node.inputs[0] == node.inputs[1];
}

bool TakesBack(const Graph& graph, const Node& node) {
  if (const auto* unary = std::get_if<Unary>(&node.op)) {
    return unary->op == UnaryOp::kSqrt || unary->op == UnaryOp::kRsqrt ||
           unary->op == UnaryOp::kLog;
  }
  const std::optional<float> exponent = ExponentOf(graph, node);
  return exponent && *exponent <= kMostTakingBack;
}

bool HasFilters(const Graph& graph, const Node& node) {
  const Value& w = graph.value(node.inputs[1]);
  if (!w.is_constant() || w.dtype != DType::kF32) return false;
  const std::span<const float> weights = w.constant->As<float>();
  return std::all_of(weights.begin(), weights.end(), [](float v) { return v >= 0; });
}

// Whether the result is again of the kind of `powers`, some of what the node reads.
bool HandsOn(const Graph& graph, const Node& node, const std::vector<bool>& powers) {
  if (std::holds_alternative<MatMul>(node.op)) return HasFilters(graph, node);
  if (std::holds_alternative<Binary>(node.op)) {
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return !IsActivation(graph, id) || powers[static_cast<size_t>(id.index())];
    });
  }
  if (const auto* unary = std::get_if<Unary>(&node.op)) return unary->op == UnaryOp::kAbs;
  return MovementOf(node.op) != Movement::kNone || std::holds_alternative<Concat>(node.op) ||
         std::holds_alternative<Reduce>(node.op) || std::holds_alternative<AveragePool>(node.op) ||
         std::holds_alternative<MaxPool>(node.op) || std::holds_alternative<Clip>(node.op);
}

}  // namespace

std::vector<bool> PowerNodes(const Graph& graph) {
  const size_t count = graph.nodes().size();
  std::vector<bool> powers(static_cast<size_t>(graph.value_count()), false);  // by value
  std::vector<bool> makes(count, false), ends(count, false), nodes(count, false);
  for (size_t n = 0; n < count; ++n) {
    const Node& node = graph.nodes()[n];
    if (node.inputs.empty()) continue;
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id.valid() && powers[static_cast<size_t>(id.index())];
    });
    ends[n] = reads && TakesBack(graph, node);
    makes[n] = !ends[n] && (Raises(graph, node) || (reads && HandsOn(graph, node, powers)));
    if (makes[n]) powers[static_cast<size_t>(node.outputs[0].index())] = true;
  }
  std::vector<bool> wanted(powers.size(), false);  // by value: leads to an end
  for (size_t n = count; n-- > 0;) {
    const Node& node = graph.nodes()[n];
    nodes[n] = ends[n] || (makes[n] && wanted[static_cast<size_t>(node.outputs[0].index())]);
    if (!nodes[n]) continue;
    for (const ValueId id : node.inputs) {
      if (id.valid() && powers[static_cast<size_t>(id.index())])
        wanted[static_cast<size_t>(id.index())] = true;
    }
  }
  return nodes;
}

}  // namespace rshift
