// exp(x - max(x)) / sum(exp(x - max(x))) over one dimension, the logarithm of a Softmax, and what
// exporters of attention write around one: a mask of zeros, zeros in the place of NaN.
#include <algorithm>
#include <cmath>

#include "graph/conv_or_matmul.h"
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

bool IsFinite(const Matcher& m, ValueId id, int depth = 0);

// As IsFinite(), of what the node makes.
bool GivesFinite(const Matcher& m, const Node& node, int depth) {
  const auto all = [&](size_t count) {
    return std::all_of(node.inputs.begin(), node.inputs.begin() + static_cast<int64_t>(count),
                       [&](ValueId in) { return IsFinite(m, in, depth + 1); });
  };
  if (const auto* binary = std::get_if<Binary>(&node.op)) {
    const BinaryOp op = binary->op;
    return (op == BinaryOp::kAdd || op == BinaryOp::kSub || op == BinaryOp::kMul ||
            op == BinaryOp::kMin || op == BinaryOp::kMax) &&
           all(2);
  }
  if (std::holds_alternative<Concat>(node.op)) return all(node.inputs.size());
  const Movement movement = MovementOf(node.op);
  if (movement == Movement::kPermutes || movement == Movement::kCopies) return all(1);
  const auto* softmax = std::get_if<Softmax>(&node.op);
  return IsConvOrMatMul(node.op) || std::holds_alternative<LayerNorm>(node.op) ||
         std::holds_alternative<InstanceNorm>(node.op) || (softmax != nullptr && !softmax->log);
}

// Whether every element is finite, where those of products and normalizations are: an infinity that
// a network computes is an error of the calibration. Inputs of the model may be masks.
bool IsFinite(const Matcher& m, ValueId id, int depth) {
  const Value& value = m.graph().value(id);
  if (value.is_constant()) {
    return value.dtype == DType::kF32 &&
           std::ranges::all_of(value.constant->As<float>(),
                               [](float x) { return std::isfinite(x); });
  }
  const Node* node = m.links().Producer(id);
  constexpr int kMostSteps = 16;
  return node != nullptr && depth < kMostSteps && GivesFinite(m, *node, depth);
}

// Whether the mask, spread over `shape`, leaves something of every row along `axis`: it holds
// finite numbers and minus infinities.
bool LeavesSome(const Value& mask, const Shape& shape, int64_t axis) {
  const auto numbers = mask.constant->As<float>();
  const bool finite = std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
  const size_t behind = shape.size() - static_cast<size_t>(axis);  // dimensions from the axis on
  const bool masks =
      std::ranges::all_of(numbers, [](float x) { return std::isfinite(x) || x < 0.0f; });
  if (finite || !masks || mask.shape.size() < behind) return finite;
  const size_t at = mask.shape.size() - behind;
  const size_t size = static_cast<size_t>(mask.shape[at]);
  const size_t inner = static_cast<size_t>(Strides(mask.shape)[at]);
  for (size_t row = 0; row * size < numbers.size(); ++row) {
    const size_t first = row / inner * inner * size + row % inner;
    size_t left = 0;
    for (size_t i = 0; i < size; ++i) left += std::isfinite(numbers[first + i * inner]);
    if (left == 0) return false;
  }
  return true;
}

// The operand of the sum `id` that is a constant, at which = 0 or 1; -1 without one.
int ConstantTerm(const Matcher& m, ValueId id) {
  const auto* add = m.links().ProducerAs<Binary>(id);
  if (add == nullptr || add->op != BinaryOp::kAdd || add->clamp.active()) return -1;
  const auto& in = m.links().Producer(id)->inputs;
  for (int i = 0; i < 2; ++i) {
    const Value& value = m.graph().value(in[i]);
    if (value.is_constant() && value.dtype == DType::kF32) return i;
  }
  return -1;
}

// Whether a row of the softmax can be all minus infinity, and so NaN.
bool HasNoEmptyRow(const Matcher& m, ValueId x, int64_t axis) {
  if (IsFinite(m, x)) return true;
  const int constant = ConstantTerm(m, x);
  if (constant < 0) return false;
  const auto& in = m.links().Producer(x)->inputs;
  return IsFinite(m, in[1 - constant]) &&
         LeavesSome(m.graph().value(in[constant]), m.graph().value(x).shape, axis);
}

// x of Where(IsNaN(x), 0, x), as PyTorch writes attention with a mask; IsNaN is not (x == x).
ValueId GuardedByZero(const Matcher& m, const Node& node) {
  if (!std::holds_alternative<Where>(node.op)) return {};
  const auto* negation = m.links().ProducerAs<Unary>(node.inputs[0]);
  const bool negated = negation != nullptr && negation->op == UnaryOp::kNot;
  const ValueId test = negated ? m.links().Producer(node.inputs[0])->inputs[0] : node.inputs[0];
  const auto* equal = m.links().ProducerAs<Binary>(test);
  if (equal == nullptr || equal->op != BinaryOp::kEqual) return {};
  const ValueId x = m.links().Producer(test)->inputs[0];
  const bool same = m.links().Producer(test)->inputs[1] == x && node.inputs[negated ? 2 : 1] == x;
  const Graph& graph = m.graph();
  const auto zero = ScalarConstant(graph, node.inputs[negated ? 1 : 2]);
  if (!same || !zero || *zero != 0.0f) return {};
  return graph.value(x).shape == graph.value(node.outputs[0]).shape ? x : ValueId{};
}

}  // namespace

bool DropSoftmaxGuard(Graph& graph, Matcher& matcher, size_t index) {
  const NodeId id(static_cast<int32_t>(index));
  Node& node = graph.nodes()[index];
  const ValueId guarded = GuardedByZero(matcher, node);
  if (!guarded.valid()) return false;
  const auto* softmax = matcher.links().ProducerAs<Softmax>(guarded);
  if (softmax == nullptr || softmax->log) return false;
  const ValueId x = matcher.links().Producer(guarded)->inputs[0];
  if (!HasNoEmptyRow(matcher, x, softmax->axis)) return false;
  const Softmax op{.axis = softmax->axis};
  matcher.links().Detach(id);
  node.op = op;
  node.inputs = {x};
  matcher.links().Attach(id);
  return true;
}

bool DropEmptyMask(Graph& graph, Matcher& matcher, size_t index) {
  const NodeId id(static_cast<int32_t>(index));
  Node& node = graph.nodes()[index];
  if (!std::holds_alternative<Softmax>(node.op)) return false;
  const int constant = ConstantTerm(matcher, node.inputs[0]);
  if (constant < 0) return false;
  const Node& sum = *matcher.links().Producer(node.inputs[0]);
  const ValueId term = sum.inputs[1 - constant];
  const auto mask = graph.value(sum.inputs[constant]).constant->As<float>();
  const bool zeros = std::ranges::all_of(mask, [](float x) { return x == 0.0f; });
  if (!zeros || graph.value(term).shape != graph.value(node.inputs[0]).shape) return false;
  matcher.links().Detach(id);
  node.inputs = {term};
  matcher.links().Attach(id);
  return true;
}

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
