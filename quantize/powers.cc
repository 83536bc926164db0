#include "quantize/powers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "quantize/values.h"

namespace rshift {
namespace {

constexpr float kLeastRaising = 2, kMostTakingBack = 0.5f;
constexpr int64_t kMany = 16;

// The exponent of a power of an activation.
std::optional<float> ExponentOf(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != BinaryOp::kPow) return {};
  return UniformConstant(graph, node.inputs[1]);
}

bool IsProduct(const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  return binary != nullptr && binary->op == BinaryOp::kMul;
}

// What a value holds, the wildest of what makes it. The means of many squares are near enough to
// each other for a root of bytes (of a normalization), not for a logarithm. Exponentials that are
// not summed are a function of one value together with their logarithm; kSummed: those that are.
enum class Power : uint8_t { kNone, kMeanOfSquares, kSquare, kHigher, kExponential, kSummed };

Power RaisedBy(const Graph& graph, const std::vector<NodeId>& producers, const Node& node) {
  if (!IsF32Activation(graph, node.inputs[0])) return Power::kNone;
  if (const auto* unary = std::get_if<Unary>(&node.op))
    return unary->op == UnaryOp::kSquare ? Power::kSquare
           : unary->op == UnaryOp::kExp  ? Power::kExponential
                                         : Power::kNone;
  if (const std::optional<float> exponent = ExponentOf(graph, node)) {
    if (*exponent < kLeastRaising) return Power::kNone;
    return *exponent > kLeastRaising ? Power::kHigher : Power::kSquare;
  }
  if (const auto* reduce = std::get_if<Reduce>(&node.op))
    return reduce->op == ReduceOp::kSumSquare ? Power::kSquare : Power::kNone;
  if (!IsProduct(node)) return Power::kNone;
  const ValueId a = node.inputs[0], b = node.inputs[1];
  if (a == b) return Power::kSquare;
  for (const auto& [square, root] : {std::pair(a, b), std::pair(b, a)}) {  // x^2 x
    const NodeId maker = IsF32Activation(graph, square) ? producers[square.index()] : NodeId();
    if (!maker.valid() || !IsProduct(graph.node(maker))) continue;
    const std::vector<ValueId>& of = graph.node(maker).inputs;
    if (of[0] == root && of[1] == root) return Power::kHigher;
  }
  return Power::kNone;
}

// Exponentials are divided by their sum: a Softmax of another form than those that are recognized.
bool IsQuotientBy(const Node& node, const std::vector<Power>& powers, Power power) {
  const auto* binary = std::get_if<Binary>(&node.op);
  return binary != nullptr && binary->op == BinaryOp::kDiv &&
         powers[static_cast<size_t>(node.inputs[1].index())] == power;
}

bool TakesBack(const Graph& graph, const Node& node, const std::vector<Power>& powers,
               Power power) {
  const auto* unary = std::get_if<Unary>(&node.op);
  if (power == Power::kExponential) return false;
  if (IsQuotientBy(node, powers, Power::kSummed)) return true;
  if (unary != nullptr && unary->op == UnaryOp::kLog) return true;
  if (power == Power::kMeanOfSquares) return false;
  if (unary != nullptr) return unary->op == UnaryOp::kSqrt || unary->op == UnaryOp::kRsqrt;
  const std::optional<float> exponent = ExponentOf(graph, node);
  return exponent && *exponent <= kMostTakingBack;
}

bool HasFilters(const Graph& graph, const Node& node) {
  const auto operands = std::span(node.inputs).first(2);  // a bias says nothing
  return std::any_of(operands.begin(), operands.end(),
                     [&](ValueId id) { return IsNonNegativeConstant(graph, id); });
}

// What adds or compares elements of its input with each other, or with another's.
bool MixesElements(const Graph& graph, const Node& node) {
  if (const auto* binary = std::get_if<Binary>(&node.op))
    return binary->op == BinaryOp::kAdd && IsF32Activation(graph, node.inputs[0]) &&
           IsF32Activation(graph, node.inputs[1]);
  return std::holds_alternative<Reduce>(node.op) || std::holds_alternative<AveragePool>(node.op) ||
         std::holds_alternative<MatMul>(node.op) || std::holds_alternative<Conv>(node.op);
}

// A sum or mean over kMany numbers or more.
bool IsMeanOfMany(const Graph& graph, const Node& node) {
  const auto* reduce = std::get_if<Reduce>(&node.op);
  if (reduce == nullptr || (reduce->op != ReduceOp::kMean && reduce->op != ReduceOp::kSum &&
                            reduce->op != ReduceOp::kSumSquare))
    return false;
  const int64_t results = NumElements(graph.value(node.outputs[0]).shape);
  return NumElements(graph.value(node.inputs[0]).shape) >= kMany * std::max<int64_t>(results, 1);
}

// Whether the result is again of the kind of `powers`, some of what the node reads.
bool HandsOn(const Graph& graph, const Node& node, const std::vector<Power>& powers) {
  if (std::holds_alternative<MatMul>(node.op) || std::holds_alternative<Conv>(node.op))
    return HasFilters(graph, node);
  if (const auto* binary = std::get_if<Binary>(&node.op)) {
    // Weights of an attention that are not yet divided by their sum.
    const auto is_weight = [&](ValueId id) {
      return powers[static_cast<size_t>(id.index())] >= Power::kExponential;
    };
    if (binary->op == BinaryOp::kMul && (is_weight(node.inputs[0]) || is_weight(node.inputs[1])))
      return true;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return !IsF32Activation(graph, id) || powers[static_cast<size_t>(id.index())] != Power::kNone;
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
  std::vector<Power> powers(static_cast<size_t>(graph.value_count()), Power::kNone);  // by value
  const std::vector<NodeId> producers = graph.Producers();
  std::vector<bool> makes(count, false), ends(count, false), nodes(count, false);
  for (size_t n = 0; n < count; ++n) {
    const Node& node = graph.nodes()[n];
    if (node.inputs.empty()) continue;
    Power read = Power::kNone;
    for (const ValueId id : node.inputs) {
      if (id.valid()) read = std::max(read, powers[static_cast<size_t>(id.index())]);
    }
    const Power raised = RaisedBy(graph, producers, node);
    ends[n] = read != Power::kNone && TakesBack(graph, node, powers, read);
    makes[n] = !ends[n] &&
               (raised != Power::kNone || (read != Power::kNone && HandsOn(graph, node, powers)));
    if (!makes[n]) continue;
    Power made = std::max(raised, read);
    if (made == Power::kSquare && IsMeanOfMany(graph, node)) made = Power::kMeanOfSquares;
    if (made == Power::kExponential && MixesElements(graph, node)) made = Power::kSummed;
    powers[static_cast<size_t>(node.outputs[0].index())] = made;
  }
  std::vector<bool> wanted(powers.size(), false);  // by value: leads to an end
  for (size_t n = count; n-- > 0;) {
    const Node& node = graph.nodes()[n];
    nodes[n] = ends[n] || (makes[n] && wanted[static_cast<size_t>(node.outputs[0].index())]);
    if (!nodes[n]) continue;
    for (const ValueId id : node.inputs) {
      if (id.valid() && powers[static_cast<size_t>(id.index())] != Power::kNone)
        wanted[static_cast<size_t>(id.index())] = true;
    }
  }
  return nodes;
}

}  // namespace rshift
