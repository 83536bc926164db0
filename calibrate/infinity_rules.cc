#include "calibrate/infinity_rules.h"

#include <algorithm>

namespace rshift {
namespace {

constexpr InfinityRule kBoth{true, true}, kNone{};

InfinityRule Swapped(const InfinityRule& rule) { return {rule.positive, rule.negative}; }

// What a product with `factor` asks of its other operand. A factor that is not constant may have
// either sign.
InfinityRule OfFactor(const Graph& graph, ValueId factor, const InfinityRule& out) {
  const InfinityRule either = out.negative && out.positive ? kBoth : kNone;
  const Value& value = graph.value(factor);
  if (!value.is_constant() || value.dtype != DType::kF32) return either;
  const auto factors = value.constant->As<float>();
  if (std::all_of(factors.begin(), factors.end(), [](float f) { return f > 0; })) return out;
  if (std::all_of(factors.begin(), factors.end(), [](float f) { return f < 0; }))
    return Swapped(out);
  return either;
}

// What a node that makes a value of rule `out` lets pass at one of its inputs.
InfinityRule OfBinary(const Graph& graph, const Node& node, BinaryOp op, size_t input,
                      const InfinityRule& out) {
  switch (op) {
    case BinaryOp::kAdd:
      return out;
    case BinaryOp::kSub:
      return input == 0 ? out : Swapped(out);
    case BinaryOp::kMul:
      return OfFactor(graph, node.inputs[1 - input], out);
    case BinaryOp::kDiv:
      return input == 0 ? OfFactor(graph, node.inputs[1], out) : kNone;
    case BinaryOp::kMax:
      return {true, out.positive};
    case BinaryOp::kMin:
      return {out.negative, true};
    case BinaryOp::kEqual:
    case BinaryOp::kLess:
    case BinaryOp::kLessOrEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kGreaterOrEqual:
      return kBoth;
    case BinaryOp::kPow:
    case BinaryOp::kMod:
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
    case BinaryOp::kSquaredDifference:
      break;
  }
  return kNone;
}

InfinityRule OfInput(const Graph& graph, const Node& node, size_t input, const InfinityRule& out) {
  if (MovementOf(node.op) != Movement::kNone) return out;
  const auto rule = Overloaded{
      [](const Softmax& op) {
        return InfinityRule{!op.log, false};
      },
      [](const Where&) { return kBoth; },
      [](const ArgMax& op) {
        return InfinityRule{!op.min, op.min};
      },
      [&](const Binary& op) { return OfBinary(graph, node, op.op, input, out); },
      [&](const Unary& op) {
        if (op.op == UnaryOp::kExp) return InfinityRule{true, false};
        return op.op == UnaryOp::kNeg ? Swapped(out) : kNone;
      },
      [&](const Reduce& op) {
        if (op.op == ReduceOp::kMax) return InfinityRule{true, out.positive};
        return op.op == ReduceOp::kMin ? InfinityRule{out.negative, true} : kNone;
      },
      [&](const Clip&) { return out; },
      [](const auto&) { return kNone; },
  };
  return std::visit(rule, node.op);
}

}  // namespace

std::vector<InfinityRule> InfinityRules(const Graph& graph) {
  std::vector<InfinityRule> rules(static_cast<size_t>(graph.value_count()), kBoth);
  const auto narrow = [&](ValueId id, const InfinityRule& by) {
    InfinityRule& rule = rules[id.index()];
    rule.negative = rule.negative && by.negative;
    rule.positive = rule.positive && by.positive;
  };
  for (const ValueId id : graph.outputs) narrow(id, kNone);
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const InfinityRule out = rules[node.outputs[0].index()];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].valid()) narrow(node.inputs[i], OfInput(graph, node, i, out));
    }
  }
  return rules;
}

}  // namespace rshift
