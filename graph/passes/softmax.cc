// exp(x - max(x)) / sum(exp(x - max(x))) over one dimension, and the logarithm of a Softmax.
#include "graph/passes/patterns.h"

namespace rshift {
namespace {

// x when `value` is x - max(x) over `axis`; else `value` itself, of which Softmax takes the
// maximum.
ValueId WithoutMaximum(const Matcher& m, ValueId value, int64_t axis) {
  const auto* sub = m.links().ProducerAs<Binary>(value);
  if (sub == nullptr || sub->op != BinaryOp::kSub || sub->clamp.active()) return value;
  const Node* node = m.links().Producer(value);
  const RowValue rows{node->inputs[0], axis};
  if (m.graph().value(rows.x).shape != m.graph().value(value).shape) return value;
  const bool found = ReadReduced(m, node->inputs[1], ReduceOp::kMax) == rows &&
                     MeetsRows(m, node->inputs[1], rows);
  return found ? rows.x : value;
}

}  // namespace

bool RecognizeSoftmax(Graph& graph, Matcher& matcher, size_t index) {
  const NodeId id(static_cast<int32_t>(index));
  Node& node = graph.nodes()[index];
  const auto* quotient = std::get_if<Binary>(&node.op);
  if (quotient == nullptr || quotient->op != BinaryOp::kDiv || quotient->clamp.active())
    return false;
  const ValueId powers = node.inputs[0];
  const ValueId argument = matcher.ArgumentOf(powers, UnaryOp::kExp);
  if (!argument.valid() || graph.value(powers).shape != graph.value(node.outputs[0]).shape)
    return false;
  const auto rows = ReadReduced(matcher, node.inputs[1], ReduceOp::kSum);
  if (!rows || rows->x != powers || !MeetsRows(matcher, node.inputs[1], *rows)) return false;
  matcher.links().Detach(id);
  node.op = Softmax{.axis = rows->axis};
  node.inputs = {WithoutMaximum(matcher, argument, rows->axis)};
  matcher.links().Attach(id);
  return true;
}

bool RecognizeLogSoftmax(Graph& graph, Matcher& matcher, size_t index) {
  const NodeId id(static_cast<int32_t>(index));
  Node& node = graph.nodes()[index];
  const auto* log = std::get_if<Unary>(&node.op);
  if (log == nullptr || log->op != UnaryOp::kLog) return false;
  const auto* softmax = matcher.links().ProducerAs<Softmax>(node.inputs[0]);
  if (softmax == nullptr || softmax->log) return false;
  const ValueId x = matcher.links().Producer(node.inputs[0])->inputs[0];
  const int64_t axis = softmax->axis;
  matcher.links().Detach(id);
  node.op = Softmax{.axis = axis, .log = true};
  node.inputs = {x};
  matcher.links().Attach(id);
  return true;
}

}  // namespace rshift
