// Functions like SiLU reach far above zero and little below: signed, half of their integers would
// stand for numbers that never come. NUMERICS.md section 1.1.
#include <algorithm>

#include "graph/conv_or_matmul.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

// What lies below zero is at most this share of the threshold: the step gets at least a quarter
// smaller.
constexpr float kMostBelowZero = 0.5f;

class ShiftRule {
 public:
  explicit ShiftRule(Propagation& state) : state_(state), producers_(state.graph.Producers()) {}

  // The number its range would reach down to, or 0: it stays as it is.
  float LowOf(ValueId owner) const {
    const RangeGroups& groups = state_.groups;
    const ValueRange& range = groups.range(owner);
    if (!range.is_signed || groups.fixed(owner)) return 0;
    float reach = 0;
    for (float value : groups.included(owner)) reach = std::max(reach, -value);
    bool from_function = false;
    for (ValueId member : groups.members(owner)) {
      if (state_.graph.IsOutput(member) || !FeedsProducts(member) || !IsMade(member)) return 0;
      reach = std::max(reach, state_.negative_reach[member.index()]);
      from_function |= IsFunction(producers_[member.index()]);
    }
    return from_function && reach <= kMostBelowZero * range.threshold ? -reach : 0;
  }

 private:
  const Node& NodeOf(NodeId id) const { return state_.graph.node(id); }

  bool IsFunction(NodeId id) const {
    const Op& op = NodeOf(id).op;
    return std::holds_alternative<Unary>(op) || std::holds_alternative<LeakyRelu>(op) ||
           std::holds_alternative<PRelu>(op);
  }

  // By an integer function, or out of members of the group.
  bool IsMade(ValueId id) const {
    const NodeId producer = producers_[id.index()];
    if (!producer.valid() || !state_.active[producer.index()]) return false;
    if (IsFunction(producer)) return true;
    const auto& inputs = NodeOf(producer).inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](ValueId x) {
      return !x.valid() || state_.graph.value(x).is_constant() || state_.groups.Together(x, id);
    });
  }

  // Every reader is an integer product or writes a member of the group.
  bool FeedsProducts(ValueId id) const {
    const auto& readers = state_.consumers[id.index()];
    return std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
      const Node& node = NodeOf(reader);
      return state_.active[reader.index()] &&
             (IsProductOf(node, id) || state_.groups.Together(node.outputs[0], id));
    });
  }

  bool IsProductOf(const Node& node, ValueId x) const {
    return IsConvOrMatMul(node.op) && node.inputs[0] == x &&
           state_.graph.value(node.inputs[1]).is_constant();
  }

  Propagation& state_;
  const std::vector<NodeId> producers_;
};

}  // namespace

void ApplyShiftRule(Propagation& state) {
  const ShiftRule rule(state);
  for (int i = 0; i < state.graph.value_count(); ++i) {
    const ValueId id(i);
    if (state.groups.owner(id) != id) continue;
    const float low = rule.LowOf(id);
    if (low < 0)
      state.groups.Shift(id, low, kShiftNegative, "little lies below zero, and products read it");
  }
}

}  // namespace rshift
