#include "quantize/output_joins.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "quantize/ranges/known_bounds.h"
#include "quantize/ranges/table_match.h"

namespace rshift {
namespace {

using Values = std::vector<bool>;  // by value

// Values that a convolution or matrix product reads, directly or through any other node.
Values BeforeProducts(const Graph& graph, const std::vector<OpKind>& kinds) {
  Values before(graph.value_count(), false);
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    if (kinds[n] != OpKind::kAlways && !before[node.outputs[0].index()]) continue;
    for (ValueId id : node.inputs) {
      if (id.valid()) before[id.index()] = true;
    }
  }
  return before;
}

// Values that a convolution or matrix product makes, directly or through any other node.
Values BehindProducts(const Graph& graph, const std::vector<OpKind>& kinds) {
  Values behind(graph.value_count(), false);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const bool is_behind = kinds[n] == OpKind::kAlways ||
                           std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
                             return id.valid() && behind[id.index()];
                           });
    if (is_behind) behind[node.outputs[0].index()] = true;
  }
  return behind;
}

// What calibration saw of a value, 0 included; 0 where it is not known.
class Widths {
 public:
  Widths(const Graph& graph, const CalibrationTable& table)
      : graph_(graph), sources_(TableSources(graph)) {
    for (const auto& [name, range] : table.tensors)
      widths_[name] = double{std::max(range.max, 0.0f)} - std::min(range.min, 0.0f);
  }
  double Of(ValueId id) const {
    const ValueId source = id.valid() ? sources_[id.index()] : ValueId();
    if (!source.valid()) return 0;
    const auto found = widths_.find(graph_.value(source).name);
    return found == widths_.end() ? 0 : found->second;
  }

 private:
  const Graph& graph_;
  const std::vector<ValueId> sources_;
  std::map<std::string_view, double> widths_;
};

bool IsProbability(const KnownBounds& bounds) {
  return bounds.fills && bounds.low >= 0 && bounds.high <= 1;
}

// Values that nothing reads but the model's outputs, moved or not.
Values OnlyMovedOut(const Graph& graph, const std::vector<OpKind>& kinds) {
  Values outside(graph.value_count(), true);
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    if (kinds[n] == OpKind::kMove && outside[node.outputs[0].index()]) continue;
    for (ValueId id : node.inputs) {
      if (id.valid()) outside[id.index()] = false;
    }
  }
  return outside;
}

bool WidthsDiffer(const Node& node, const Widths& widths) {
  double least = widths.Of(node.inputs[0]), most = least;
  for (ValueId id : node.inputs) {
    least = std::min(least, widths.Of(id));
    most = std::max(most, widths.Of(id));
  }
  return least > 0 && most > kFarApart * least;
}

bool HidesProbabilities(const Node& node, const std::vector<KnownBounds>& bounds,
                        const Widths& widths) {
  bool probabilities = false;
  double most = 0;
  for (ValueId id : node.inputs) {
    if (!id.valid()) continue;
    if (IsProbability(bounds[id.index()])) {
      probabilities = true;
    } else {
      most = std::max(most, widths.Of(id));
    }
  }
  return probabilities && most > kFarApart;
}

}  // namespace

std::vector<bool> OutputJoins(const Graph& graph, const std::vector<OpKind>& kinds,
                              const CalibrationTable& table) {
  const Values before = BeforeProducts(graph, kinds), behind = BehindProducts(graph, kinds);
  const Values outside = OnlyMovedOut(graph, kinds);
  const std::vector<KnownBounds> bounds = FindKnownBounds(graph);
  const Widths widths(graph, table);
  std::vector<bool> found(graph.nodes().size(), false);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const ValueId y = node.outputs[0];
    found[n] = std::holds_alternative<Concat>(node.op) && kinds[n] == OpKind::kMove &&
               behind[y.index()] && !before[y.index()] &&
               (HidesProbabilities(node, bounds, widths) ||
                (outside[y.index()] && WidthsDiffer(node, widths)));
  }
  return found;
}

}  // namespace rshift
