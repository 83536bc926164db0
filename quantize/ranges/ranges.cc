#include "quantize/ranges/ranges.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "quantize/ranges/groups.h"
#include "quantize/ranges/propagation_rules.h"
#include "quantize/ranges/table_match.h"

namespace rshift {
namespace {

ValueRange FromTable(const TensorRange& entry, QuantMode mode) {
  ValueRange range;
  if (mode == QuantMode::kSymmetric) {
    range.is_signed = entry.min < 0;
    range.threshold = entry.threshold;
  } else {
    range.low = std::min(entry.low, 0.0f);
    range.high = std::max(entry.high, 0.0f);
  }
  return range;
}

// A symmetric threshold may come from the positive side: then the observed minimum is nearer to
// zero.
float NegativeReach(const TensorRange& entry, QuantMode mode) {
  if (mode == QuantMode::kAsymmetric) return std::max(-entry.low, 0.0f);
  return std::min(std::max(-entry.min, 0.0f), entry.threshold);
}

// Propagation concerns nodes that move or compute f32 activations in integers.
std::vector<bool> ActiveNodes(const Graph& graph, const std::vector<bool>& has_range,
                              const std::vector<std::string>& float_tensors) {
  const std::set<std::string> kept_float(float_tensors.begin(), float_tensors.end());
  std::vector<bool> active;
  for (const Node& node : graph.nodes()) {
    const ValueId y = node.outputs[0];
    const bool reads =
        !node.inputs.empty() && node.inputs[0].valid() &&
        (has_range[node.inputs[0].index()] || std::holds_alternative<Concat>(node.op));
    active.push_back(reads && has_range[y.index()] && !kept_float.contains(graph.value(y).name));
  }
  return active;
}

}  // namespace

RangeResult PropagateRanges(const Graph& graph, const CalibrationTable& table,
                            const RangeOptions& options) {
  const std::vector<const TensorRange*> entries = MatchTable(graph, table);
  RangeResult result;
  std::vector<bool> fixed(entries.size(), false);
  std::vector<float> negative_reach;
  for (const TensorRange* entry : entries) {
    negative_reach.push_back(entry == nullptr ? 0.0f : NegativeReach(*entry, options.mode));
    result.ranges.push_back(entry == nullptr ? ValueRange{} : FromTable(*entry, options.mode));
    result.has_range.push_back(entry != nullptr);
  }
  for (const auto& [name, range] : options.fixed) {
    const ValueId id = graph.FindValue(name);
    RSHIFT_REQUIRE(id.valid() && result.has_range[id.index()], ErrorCode::kInvalidInput,
                   "configuration: '", name,
                   "' is not an f32 tensor of the model, so it can have no range");
    result.ranges[id.index()] = range;
    fixed[id.index()] = true;
  }
  RangeGroups groups(graph, options.mode, result.ranges, std::move(fixed));
  Propagation state{graph, groups, ActiveNodes(graph, result.has_range, options.float_tensors),
                    graph.Consumers(), std::move(negative_reach)};
  ApplyForwardRules(state);
  ApplyComparisonRule(state);
  ApplyBackwardRules(state);
  if (options.shift_negative && options.mode == QuantMode::kSymmetric) ApplyShiftRule(state);
  for (size_t i = 0; i < result.ranges.size(); ++i) {
    if (result.has_range[i]) result.ranges[i] = groups.range(ValueId(static_cast<int32_t>(i)));
  }
  result.changes = groups.TakeChanges();
  return result;
}

}  // namespace rshift
