// x == ReduceMax(x), x < Clip(x): comparisons of numbers with some that were chosen among them.
// Rounded to two scales equal numbers are hardly ever equal, so all that lies between shares one.
#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

class ComparisonRule {
 public:
  explicit ComparisonRule(Propagation& state)
      : state_(state), producers_(state.graph.Producers()) {}

  void Apply(const Node& comparison) {
    const std::set<ValueId> a = Sources(comparison.inputs[0]);
    const std::set<ValueId> b = Sources(comparison.inputs[1]);
    std::vector<ValueId> common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    if (common.empty()) return;
    std::set<ValueId> between = a;
    between.insert(b.begin(), b.end());
    for (const ValueId id : between) {
      const std::set<ValueId> sources = Sources(id);
      const bool is_chosen = std::any_of(common.begin(), common.end(),
                                         [&](ValueId one) { return sources.contains(one); });
      if (is_chosen) Share(common.front(), id, OpName(comparison.op));
    }
  }

 private:
  // From how many of its first inputs a node chooses its results; 0 where they may be other
  // numbers.
  size_t ChosenInputs(const Node& node) const {
    if (const auto* binary = std::get_if<Binary>(&node.op))
      return binary->op == BinaryOp::kMax || binary->op == BinaryOp::kMin ? 2 : 0;
    if (const auto* reduce = std::get_if<Reduce>(&node.op))
      return reduce->op == ReduceOp::kMax || reduce->op == ReduceOp::kMin ? 1 : 0;
    const bool chooses = std::holds_alternative<Clip>(node.op) ||
                         std::holds_alternative<MaxPool>(node.op) || MovesInput(state_.graph, node);
    return chooses ? 1 : 0;
  }

  // `id` and all activations that its numbers are chosen from.
  std::set<ValueId> Sources(ValueId id) const {
    std::set<ValueId> found;
    std::vector<ValueId> open = {id};
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (!next.valid() || state_.graph.value(next).is_constant() || !found.insert(next).second)
        continue;
      const NodeId producer = producers_[next.index()];
      if (!producer.valid() || !state_.active[producer.index()]) continue;
      const Node& node = state_.graph.node(producer);
      const auto first = node.inputs.begin();
      open.insert(open.end(), first, first + static_cast<std::ptrdiff_t>(ChosenInputs(node)));
    }
    return found;
  }

  void Share(ValueId source, ValueId id, const std::string& name) {
    RangeGroups& groups = state_.groups;
    if (!groups.CanJoin(source, id)) return;
    const std::string rule = "ForwardCalibration(" + name + ")";
    const std::string reason = "numbers are compared with some that are chosen among them";
    const ValueRange own = groups.range(id);
    groups.Join(source, id, rule, reason);
    if (groups.mode() == QuantMode::kAsymmetric) {
      groups.Include(id, own.low, rule, reason);
      groups.Include(id, own.high, rule, reason);
    } else {
      groups.Include(id, own.is_signed ? -own.threshold : own.threshold, rule, reason);
    }
  }

  Propagation& state_;
  std::vector<NodeId> producers_;
};

// The results of other operators of two activations are no booleans.
bool IsComparison(const Graph& graph, const Node& node) {
  return std::holds_alternative<Binary>(node.op) &&
         graph.value(node.outputs[0]).dtype == DType::kBool;
}

}  // namespace

void ApplyComparisonRule(Propagation& state) {
  ComparisonRule rule(state);
  for (const Node& node : state.graph.nodes()) {
    if (IsComparison(state.graph, node)) rule.Apply(node);
  }
}

}  // namespace rshift
