// BackwardCalibration: the input takes the output's range.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

// Nobody but `node`, and nodes within the group, reads any member of x's group.
bool IsOnlyReader(const Propagation& state, size_t node, ValueId x) {
  for (ValueId member : state.groups.members(x)) {
    if (state.graph.IsOutput(member)) return false;
    for (NodeId reader : state.consumers[member.index()]) {
      if (static_cast<size_t>(reader.index()) == node) continue;
      const ValueId out = state.graph.node(reader).outputs[0];
      if (!state.active[reader.index()] || !state.groups.Together(out, member)) return false;
    }
  }
  return true;
}

// Numbers of the group are means of others in it: cut off before, they make other means.
bool Interpolates(const Propagation& state, ValueId x) {
  const auto& members = state.groups.members(x);
  return std::any_of(members.begin(), members.end(), [&](ValueId member) {
    const auto& readers = state.consumers[member.index()];
    return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
      const Node& node = state.graph.node(reader);
      return IsInterpolation(node) && state.groups.Together(node.outputs[0], member);
    });
  });
}

bool HoldsAll(const Propagation& state, const ValueRange& range, ValueId x) {
  const auto& members = state.groups.members(x);
  return std::all_of(members.begin(), members.end(), [&](ValueId member) {
    const ValueRange& own = state.groups.own_range(member);
    if (state.groups.mode() == QuantMode::kAsymmetric)
      return range.low <= own.low && range.high >= own.high;
    return range.threshold >= own.threshold && (range.is_signed || !own.is_signed);
  });
}

void TakeOutputRange(Propagation& state, size_t n, ValueId x, const std::string& rule) {
  const ValueId y = state.graph.nodes()[n].outputs[0];
  if (!state.groups.CanJoin(y, x)) return;
  if (Interpolates(state, x) && !HoldsAll(state, state.groups.range(y), x)) return;
  state.groups.Join(y, x, "BackwardCalibration(" + rule + ")", "input takes the output's range");
}

// How far below zero quantized values of a range reach.
float NegativeReach(const ValueRange& range, QuantMode mode) {
  if (mode == QuantMode::kAsymmetric) return -range.low;
  return range.is_signed ? range.threshold : 0.0f;
}

// Slopes in [0, 1] make y's negative side shorter than x's: x may take y's range only when that
// still holds every negative value x can have (positive values pass unchanged, so y's range is
// right for them). Types must agree.
bool SlopeRuleFits(const Propagation& state, ValueId x, ValueId y) {
  const QuantMode mode = state.groups.mode();
  const ValueRange& to = state.groups.range(y);
  const auto& members = state.groups.members(x);
  return std::all_of(members.begin(), members.end(), [&](ValueId member) {
    const ValueRange& from = state.groups.own_range(member);
    return from.is_signed == to.is_signed &&
           state.negative_reach[member.index()] <= NegativeReach(to, mode);
  });
}

bool SlopesWithinUnit(const Graph& graph, ValueId slope) {
  const Value& value = graph.value(slope);
  if (!value.is_constant() || value.dtype != DType::kF32) return false;
  const auto slopes = value.constant->As<float>();
  return std::all_of(slopes.begin(), slopes.end(), [](float s) { return s >= 0.0f && s <= 1.0f; });
}

void ApplySlopeRule(Propagation& state, size_t n, bool slopes_fit, const std::string& name) {
  const Node& node = state.graph.nodes()[n];
  const ValueId x = node.inputs[0];
  if (!slopes_fit || !IsOnlyReader(state, n, x) || !SlopeRuleFits(state, x, node.outputs[0]))
    return;
  TakeOutputRange(state, n, x, name);
}

// Every f32 input; what the output's range cuts off of one of them it cuts off of the result.
void ApplyConcatRule(Propagation& state, size_t n, const std::string& name) {
  for (ValueId x : state.graph.nodes()[n].inputs) {
    const Value& value = state.graph.value(x);
    if (value.is_constant() || value.dtype != DType::kF32 || !IsOnlyReader(state, n, x)) continue;
    TakeOutputRange(state, n, x, name);
  }
}

// Max or Min of two tensors, each of more than one number (which is a table: any range will do).
bool IsExtremum(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || (binary->op != BinaryOp::kMax && binary->op != BinaryOp::kMin))
    return false;
  return std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const Value& value = graph.value(id);
    return value.is_constant() && NumElements(value.shape) == 1;
  });
}

// The maximum of bytes is one of them: both directions are right. Backwards where nobody else reads
// x; else forwards, as long as y's range is still its own; else the result is requantized.
void ApplyMaxPoolRule(Propagation& state, size_t n) {
  const Node& node = state.graph.nodes()[n];
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (IsOnlyReader(state, n, x)) {
    TakeOutputRange(state, n, x, "MaxPool");
  } else if (state.groups.owner(y) == y && state.groups.CanJoin(x, y)) {
    state.groups.Join(x, y, "ForwardCalibration(MaxPool)", "output takes the input's range");
  }
}

}  // namespace

void ApplyBackwardRules(Propagation& state) {
  for (size_t n = state.graph.nodes().size(); n-- > 0;) {
    if (!state.active[n]) continue;
    const Node& node = state.graph.nodes()[n];
    if (std::holds_alternative<Clip>(node.op)) {
      // Values that the output's range cuts off are those that the clip cuts off anyway.
      if (IsOnlyReader(state, n, node.inputs[0])) TakeOutputRange(state, n, node.inputs[0], "Clip");
    } else if (const auto* leaky = std::get_if<LeakyRelu>(&node.op)) {
      ApplySlopeRule(state, n, leaky->alpha >= 0 && leaky->alpha <= 1, "LeakyRelu");
    } else if (std::holds_alternative<PRelu>(node.op)) {
      ApplySlopeRule(state, n, SlopesWithinUnit(state.graph, node.inputs[1]), "PRelu");
    } else if (std::holds_alternative<Concat>(node.op)) {
      ApplyConcatRule(state, n, "Concat");
    } else if (std::holds_alternative<Where>(node.op)) {
      ApplyConcatRule(state, n, "Where");
    } else if (IsExtremum(state.graph, node)) {
      ApplyConcatRule(state, n, std::get<Binary>(node.op).op == BinaryOp::kMax ? "Max" : "Min");
    } else if (std::holds_alternative<MaxPool>(node.op)) {
      ApplyMaxPoolRule(state, n);
    }
  }
}

}  // namespace rshift
