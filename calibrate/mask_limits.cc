#include "calibrate/mask_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rshift {
namespace {

constexpr float kLimit = -5000, kHighestLimit = -1000;
constexpr float kHighestConstantMask = -50;
constexpr float kNoLimit = -std::numeric_limits<float>::infinity();

// What becomes of a very negative element.
struct Fate {
  bool only_masks = true;     // no reader makes anything but a mask or 0 of it
  bool becomes_zero = false;  // a Softmax or Exp reads it in the end
};
constexpr Fate kZero{true, true}, kIgnored{true, false}, kUsed{false, false};

// The least element of a constant factor; 0 when it is no constant or holds any that is not > 0.
float LeastFactor(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (!value.is_constant() || value.dtype != DType::kF32) return 0;
  const auto factors = value.constant->As<float>();
  if (factors.empty()) return 0;
  return std::max(*std::min_element(factors.begin(), factors.end()), 0.0f);
}

Fate OfBinary(const Graph& graph, const Node& node, BinaryOp op, size_t input, const Fate& out) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kMax:
    case BinaryOp::kMin:
      return out;
    case BinaryOp::kSub:
      return input == 0 ? out : kUsed;
    case BinaryOp::kMul:
      return LeastFactor(graph, node.inputs[1 - input]) > 0 ? out : kUsed;
    case BinaryOp::kDiv:
      return input == 0 && LeastFactor(graph, node.inputs[1]) > 0 ? out : kUsed;
    case BinaryOp::kPow:
    case BinaryOp::kMod:
    case BinaryOp::kEqual:
    case BinaryOp::kLess:
    case BinaryOp::kLessOrEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kGreaterOrEqual:
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
    case BinaryOp::kSquaredDifference:
      break;
  }
  return kUsed;
}

// Of elements of the node's input, by that of its output.
Fate OfInput(const Graph& graph, const Node& node, size_t input, const Fate& out) {
  if (MovementOf(node.op) != Movement::kNone) return out;
  const auto fate = Overloaded{
      [](const Softmax& op) { return op.log ? kUsed : kZero; },
      [](const ArgMax& op) { return op.min ? kUsed : kIgnored; },
      [&](const Binary& op) { return OfBinary(graph, node, op.op, input, out); },
      [](const Unary& op) { return op.op == UnaryOp::kExp ? kZero : kUsed; },
      // The largest of a row, which a Softmax in single steps subtracts.
      [](const Reduce& op) { return op.op == ReduceOp::kMax ? kIgnored : kUsed; },
      [&](const Where&) { return out; },
      [](const auto&) { return kUsed; },
  };
  return std::visit(fate, node.op);
}

std::vector<Fate> Fates(const Graph& graph) {
  std::vector<Fate> fates(static_cast<size_t>(graph.value_count()));
  const auto meet = [&](ValueId id, const Fate& other) {
    Fate& fate = fates[id.index()];
    fate.only_masks = fate.only_masks && other.only_masks;
    fate.becomes_zero = fate.becomes_zero || other.becomes_zero;
  };
  for (const ValueId id : graph.outputs) meet(id, kUsed);
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const Fate out = fates[node.outputs[0].index()];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].valid()) meet(node.inputs[i], OfInput(graph, node, i, out));
    }
  }
  return fates;
}

// What a product with small constants leaves of a mask.
float Shrink(const Graph& graph, const Node& node, float limit) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr) return limit;
  if (binary->op == BinaryOp::kMul) {
    const float factor =
        std::max(LeastFactor(graph, node.inputs[0]), LeastFactor(graph, node.inputs[1]));
    return factor > 0 ? limit * factor : limit;
  }
  if (binary->op != BinaryOp::kDiv || LeastFactor(graph, node.inputs[1]) == 0) return limit;
  const auto divisors = graph.value(node.inputs[1]).constant->As<float>();
  return limit / *std::max_element(divisors.begin(), divisors.end());
}

// Half of m where the node adds a constant of nothing but 0 and m, as the windows of Swin have it;
// else minus infinity.
float OfConstantMask(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != BinaryOp::kAdd) return kNoLimit;
  for (const ValueId input : node.inputs) {
    const Value& value = graph.value(input);
    if (!value.is_constant() || value.dtype != DType::kF32) continue;
    const auto elements = value.constant->As<float>();
    if (elements.empty()) continue;
    const float lowest = *std::min_element(elements.begin(), elements.end());
    const bool masks = std::all_of(elements.begin(), elements.end(),
                                   [&](float v) { return v == 0 || v == lowest; });
    if (masks && std::isfinite(lowest) && lowest <= kHighestConstantMask &&
        std::find(elements.begin(), elements.end(), 0.0f) != elements.end()) {
      return lowest / 2;
    }
  }
  return kNoLimit;
}

}  // namespace

std::vector<float> MaskLimits(const Graph& graph) {
  const std::vector<Fate> fates = Fates(graph);
  std::vector<float> limits(fates.size(), kNoLimit);
  for (size_t i = 0; i < fates.size(); ++i) {
    if (fates[i].only_masks && fates[i].becomes_zero) limits[i] = kLimit;
  }
  for (const Node& node : graph.nodes()) {
    float& limit = limits[node.outputs[0].index()];
    if (limit == kNoLimit) continue;
    limit = std::max(limit, OfConstantMask(graph, node));
    for (const ValueId input : node.inputs) {
      if (!input.valid() || limits[input.index()] == kNoLimit) continue;
      const float given = limits[input.index()];
      const float shrunk = Shrink(graph, node, given);
      limit = std::max(limit, std::min(shrunk, std::max(given, kHighestLimit)));
    }
  }
  return limits;
}

}  // namespace rshift
