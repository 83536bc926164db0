#include "quantize/ranges/known_bounds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "graph/conv_or_matmul.h"

namespace rshift {
namespace {

KnownBounds Fills(float low, float high) { return {low, high, true}; }
KnownBounds AtLeast(float low) {
  KnownBounds bounds;
  bounds.low = low;
  return bounds;
}

// The least values are rounded down in the last digit given.
KnownBounds OfFunction(const Unary& op) {
  switch (op.op) {
    case UnaryOp::kSigmoid:
    case UnaryOp::kHardSigmoid:
      return Fills(0, 1);
    case UnaryOp::kTanh:
    case UnaryOp::kErf:
    case UnaryOp::kSoftsign:
    case UnaryOp::kSin:
    case UnaryOp::kCos:
      return Fills(-1, 1);
    case UnaryOp::kHardSwish:
      return AtLeast(-0.375f);  // at -1.5
    case UnaryOp::kSilu:
      return AtLeast(-0.27846457f);  // at -1.27846
    case UnaryOp::kGelu:
      return AtLeast(-0.16997123f);  // at -0.75179
    case UnaryOp::kGeluTanh:
      return AtLeast(-0.17004078f);  // at -0.75246
    case UnaryOp::kMish:
      return AtLeast(-0.30884345f);  // at -1.19243
    case UnaryOp::kElu:
    case UnaryOp::kCelu:
      return op.alpha >= 0 ? AtLeast(-op.alpha) : KnownBounds{};
    case UnaryOp::kSelu:
      return op.alpha >= 0 && op.beta >= 0 ? AtLeast(-op.alpha * op.beta) : KnownBounds{};
    case UnaryOp::kSoftplus:
    case UnaryOp::kExp:
    case UnaryOp::kSqrt:
    case UnaryOp::kRsqrt:
    case UnaryOp::kAbs:
    case UnaryOp::kSquare:
      return AtLeast(0);
    default:  // nothing is known, which is always right
      return {};
  }
}

// Of channels with scales of their own only what lies on either side of zero is known.
KnownBounds OfUnary(const Unary& op) {
  const KnownBounds bounds = OfFunction(op);
  if (op.output_exponents.empty()) return bounds;
  return bounds.low >= 0 ? AtLeast(0) : KnownBounds{};
}

// The values of the output are values of the inputs, or lie between them.
bool StaysWithin(const Op& op) {
  if (const auto* resize = std::get_if<Resize>(&op)) return resize->mode != ResizeMode::kCubic;
  const Movement movement = MovementOf(op);
  return movement == Movement::kPermutes || movement == Movement::kCopies ||
         std::holds_alternative<MaxPool>(op);
}

// The hull of what the node reads; fills only when every input does.
KnownBounds HandedOn(const Node& node, const std::vector<KnownBounds>& known) {
  KnownBounds hull = known[node.inputs[0].index()];
  const size_t read = std::holds_alternative<Concat>(node.op) ? node.inputs.size() : 1;
  for (size_t i = 1; i < read; ++i) {
    const KnownBounds& bounds = known[node.inputs[i].index()];
    hull.low = std::min(hull.low, bounds.low);
    hull.high = std::max(hull.high, bounds.high);
    hull.fills = hull.fills && bounds.fills;
  }
  return hull;
}

KnownBounds OfNode(const Node& node, const std::vector<KnownBounds>& known) {
  if (const auto* unary = std::get_if<Unary>(&node.op)) return OfUnary(*unary);
  if (const auto* softmax = std::get_if<Softmax>(&node.op)) {
    if (!softmax->log) return Fills(0, 1);
    KnownBounds bounds;
    bounds.high = 0;
    return bounds;
  }
  if (const auto* clip = std::get_if<Clip>(&node.op)) {
    KnownBounds bounds = known[node.inputs[0].index()];
    bounds.low = std::max(bounds.low, clip->clamp.lo);
    bounds.high = std::min(bounds.high, clip->clamp.hi);
    if (bounds.low > bounds.high) return {};  // ONNX allows min > max
    return bounds;
  }
  return StaysWithin(node.op) ? HandedOn(node, known) : KnownBounds{};
}

void Apply(const KnownBounds& bounds, TensorRange& range) {
  if (bounds.FilledBy(std::max(std::fabs(range.min), std::fabs(range.max)))) {
    range.min = range.low = bounds.low;
    range.max = range.high = bounds.high;
    range.threshold = bounds.largest();
    range.method = kKnownMethod;
    return;
  }
  if (bounds.fills) {  // shares of an attention and their kin are never clipped
    range.low = range.min;
    range.high = range.max;
    range.threshold = std::max(std::fabs(range.min), std::fabs(range.max));
    range.method = kKnownMethod;
  }
  // A rounding error of the float kernel may lie beyond: the range must still hold what was seen.
  const float low = std::min(bounds.low, range.min), high = std::max(bounds.high, range.max);
  range.low = std::clamp(range.low, low, high);
  range.high = std::clamp(range.high, low, high);
  range.threshold = std::min(range.threshold, std::max(std::fabs(low), std::fabs(high)));
}

}  // namespace

std::vector<KnownBounds> FindKnownBounds(const Graph& graph) {
  std::vector<KnownBounds> known(static_cast<size_t>(graph.value_count()));
  for (const Node& node : graph.nodes()) known[node.outputs[0].index()] = OfNode(node, known);
  for (const ValueId id : graph.outputs) known[id.index()].score = true;
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    if (IsConvOrMatMul(node.op)) continue;
    const bool seen = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id.valid() && known[id.index()].score;
    });
    for (const ValueId id : node.inputs) {
      if (id.valid() && seen) known[id.index()].score = true;
    }
  }
  return known;
}

void ApplyKnownBounds(const Graph& graph, CalibrationTable& table) {
  const std::vector<KnownBounds> known = FindKnownBounds(graph);
  std::map<std::string, const KnownBounds*> by_name;
  for (int i = 0; i < graph.value_count(); ++i) by_name[graph.value(ValueId(i)).name] = &known[i];
  for (auto& [name, range] : table.tensors) {
    if (const auto at = by_name.find(name); at != by_name.end()) Apply(*at->second, range);
  }
}

}  // namespace rshift
