#include "quantize/phases.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

constexpr int64_t kMostCoordinates = 16;

class ArgumentFinder {
 public:
  ArgumentFinder(const Graph& graph, const std::set<std::string>& integer_inputs)
      : graph_(graph), integer_inputs_(integer_inputs), producers_(graph.Producers()) {}

  // Whether a value is computed from inputs of floats alone, in ways that arguments are.
  bool IsArgument(ValueId id) {
    if (!id.valid() || graph_.value(id).is_constant()) return true;
    const auto [known, fresh] = known_.emplace(id.index(), false);
    if (fresh) known->second = Look(id);
    return known->second;
  }
  // Adds the nodes that compute it.
  void Collect(ValueId id, std::vector<bool>* nodes) const {
    if (!id.valid() || graph_.value(id).is_constant()) return;
    const NodeId producer = producers_[id.index()];
    if (!producer.valid() || (*nodes)[static_cast<size_t>(producer.index())]) return;
    (*nodes)[static_cast<size_t>(producer.index())] = true;
    for (const ValueId input : graph_.node(producer).inputs) Collect(input, nodes);
  }

 private:
  bool Look(ValueId id) {
    const NodeId producer = producers_[id.index()];
    if (!producer.valid()) return !integer_inputs_.contains(graph_.value(id).name);
    const Node& node = graph_.node(producer);
    if (!Follows(node)) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId input) { return IsArgument(input); });
  }

  bool Follows(const Node& node) const {
    if (const auto* binary = std::get_if<Binary>(&node.op))
      return binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kSub ||
             binary->op == BinaryOp::kMul || binary->op == BinaryOp::kDiv;
    const auto is_constant = [&](size_t i) { return graph_.value(node.inputs[i]).is_constant(); };
    if (std::holds_alternative<MatMul>(node.op)) {
      const Shape& a = graph_.value(node.inputs[0]).shape;
      return (is_constant(0) || is_constant(1)) && !a.empty() && a.back() <= kMostCoordinates;
    }
    if (std::holds_alternative<Conv>(node.op)) {
      const Shape& w = graph_.value(node.inputs[1]).shape;
      return is_constant(1) && NumElements(w) <= kMostCoordinates * w[0];
    }
    return MovesInput(graph_, node) || std::holds_alternative<Concat>(node.op) ||
           std::holds_alternative<Cast>(node.op);
  }

  const Graph& graph_;
  const std::set<std::string>& integer_inputs_;
  const std::vector<NodeId> producers_;
  std::map<int32_t, bool> known_;  // by value
};

}  // namespace

std::vector<bool> PhaseNodes(const Graph& graph, const CalibrationTable& table,
                             const std::set<std::string>& integer_inputs) {
  std::vector<bool> nodes(graph.nodes().size(), false);
  ArgumentFinder finder(graph, integer_inputs);
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* unary = std::get_if<Unary>(&node.op);
    if (unary == nullptr || (unary->op != UnaryOp::kSin && unary->op != UnaryOp::kCos)) continue;
    const TensorRange* range = table.Find(graph.value(node.inputs[0]).name);
    if (range == nullptr || !finder.IsArgument(node.inputs[0])) continue;
    if (std::max(std::fabs(range->low), std::fabs(range->high)) < kMostPhase) continue;
    finder.Collect(node.inputs[0], &nodes);
    nodes[n] = true;
  }
  return nodes;
}

}  // namespace rshift
