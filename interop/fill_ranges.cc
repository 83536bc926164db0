#include "interop/fill_ranges.h"

#include <algorithm>
#include <cmath>

#include "graph/conv_or_matmul.h"
#include "quantize/ranges/known_bounds.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

TensorRange Clipped(const TensorRange& range, const Clamp& clamp) {
  TensorRange result = range;
  for (float* end : {&result.min, &result.max, &result.low, &result.high})
    *end = std::min(std::max(*end, clamp.lo), clamp.hi);
  result.threshold = std::min(range.threshold, std::max(std::fabs(clamp.lo), std::fabs(clamp.hi)));
  return result;
}

// The hull of what a Concat reads, when all of it is known.
std::optional<TensorRange> HullOfInputs(const Node& node, const MaybeRanges& ranges) {
  std::optional<TensorRange> hull;
  for (const ValueId id : node.inputs) {
    const std::optional<TensorRange>& x = ranges[id.index()];
    if (!x) return std::nullopt;
    if (!hull) hull = x;
    hull->min = std::min(hull->min, x->min);
    hull->max = std::max(hull->max, x->max);
    hull->low = std::min(hull->low, x->low);
    hull->high = std::max(hull->high, x->high);
    hull->threshold = std::max(hull->threshold, x->threshold);
  }
  return hull;
}

enum class Rules { kMoves, kAll };

std::optional<TensorRange> Forward(const Graph& graph, const Node& node, const MaybeRanges& ranges,
                                   Rules rules) {
  const bool all = rules == Rules::kAll;
  if (all && std::holds_alternative<Concat>(node.op)) return HullOfInputs(node, ranges);
  if (node.inputs.empty() || !node.inputs[0].valid()) return std::nullopt;
  const std::optional<TensorRange>& x = ranges[node.inputs[0].index()];
  if (!x) return std::nullopt;
  const auto* clip = std::get_if<Clip>(&node.op);
  if (all && clip != nullptr) return Clipped(*x, clip->clamp);
  const bool keeps =
      MovesValues(graph, node) || (all && std::holds_alternative<AveragePool>(node.op));
  return keeps ? x : std::nullopt;
}

bool TakesOutputRange(const Graph& graph, const Node& node, Rules rules) {
  if (MovesValues(graph, node)) return true;
  return rules == Rules::kAll &&
         (std::holds_alternative<Clip>(node.op) || std::holds_alternative<LeakyRelu>(node.op) ||
          std::holds_alternative<PRelu>(node.op) || std::holds_alternative<Concat>(node.op));
}

bool Wants(const Graph& graph, ValueId id, const MaybeRanges& ranges) {
  return id.valid() && !ranges[id.index()] && !graph.value(id).is_constant() &&
         graph.value(id).dtype == DType::kF32;
}

bool FillForward(const Graph& graph, Rules rules, MaybeRanges* ranges) {
  bool changed = false;
  for (const Node& node : graph.nodes()) {
    const ValueId y = node.outputs[0];
    if (!Wants(graph, y, *ranges)) continue;
    (*ranges)[y.index()] = Forward(graph, node, *ranges, rules);
    changed = changed || (*ranges)[y.index()].has_value();
  }
  return changed;
}

bool FillBackward(const Graph& graph, Rules rules, MaybeRanges* ranges) {
  bool changed = false;
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const std::optional<TensorRange>& y = (*ranges)[node.outputs[0].index()];
    if (!y || !TakesOutputRange(graph, node, rules)) continue;
    const size_t count = std::holds_alternative<Concat>(node.op) ? node.inputs.size() : 1;
    for (size_t i = 0; i < count; ++i) {
      if (!Wants(graph, node.inputs[i], *ranges)) continue;
      (*ranges)[node.inputs[i].index()] = y;
      changed = true;
    }
  }
  return changed;
}

void Fill(const Graph& graph, Rules rules, MaybeRanges* ranges) {
  while (FillForward(graph, rules, ranges) || FillBackward(graph, rules, ranges)) {
  }
}

}  // namespace

bool MovesValues(const Graph& graph, const Node& node) {
  return MovesInput(graph, node) || std::holds_alternative<MaxPool>(node.op);
}

void FillMovedRanges(const Graph& graph, MaybeRanges* ranges) {
  Fill(graph, Rules::kMoves, ranges);
}

void FillRanges(const Graph& graph, MaybeRanges* ranges) {
  const std::vector<KnownBounds> known = FindKnownBounds(graph);
  for (int i = 0; i < graph.value_count(); ++i) {
    if (!known[i].fills || !Wants(graph, ValueId(i), *ranges)) continue;
    const float low = known[i].low, high = known[i].high;
    (*ranges)[i] = TensorRange{low, high, std::max(std::fabs(low), std::fabs(high)),
                               low, high, std::string(kKnownMethod),
                               0};
  }
  Fill(graph, Rules::kAll, ranges);
}

std::vector<NodeId> Descendants(const Graph& graph, ValueId value) {
  const std::vector<std::vector<NodeId>> consumers = graph.Consumers();
  std::vector<NodeId> nodes;
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    for (const NodeId reader : consumers[id.index()]) {
      if (std::find(nodes.begin(), nodes.end(), reader) != nodes.end()) continue;
      nodes.push_back(reader);
      open.push_back(graph.node(reader).outputs[0]);
    }
  }
  return nodes;
}

bool IsTail(const Graph& graph, NodeId node) {
  const std::vector<NodeId> behind = Descendants(graph, graph.node(node).outputs[0]);
  return std::none_of(behind.begin(), behind.end(),
                      [&](NodeId id) { return IsConvOrMatMul(graph.node(id).op); });
}

}  // namespace rshift
