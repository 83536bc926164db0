#include "pipeline/diagnose/tensor_facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "pipeline/diagnose/value_shape.h"
#include "pipeline/diagnose/zero_filters.h"
#include "quantize/equalize/choose.h"
#include "quantize/equalize/product_weights.h"

namespace rshift {
namespace {

// What comes of each value, seen through operators that only move elements.
struct Uses {
  std::vector<bool> output;
  std::vector<std::set<std::string>> readers;  // operators that compute
};

Uses FindUses(const Graph& graph) {
  const auto count = static_cast<size_t>(graph.value_count());
  Uses uses{std::vector<bool>(count), std::vector<std::set<std::string>>(count)};
  for (const ValueId id : graph.outputs) uses.output[id.index()] = true;
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    const size_t made = node->outputs[0].index();
    for (const ValueId input : node->inputs) {
      if (!input.valid()) continue;
      const size_t read = input.index();
      if (MovementOf(node->op) == Movement::kNone) {
        uses.readers[read].insert(OpName(node->op));
        continue;
      }
      uses.output[read] = uses.output[read] || uses.output[made];
      uses.readers[read].insert(uses.readers[made].begin(), uses.readers[made].end());
    }
  }
  return uses;
}

std::set<std::string> NamesOf(const Graph& graph, const std::vector<ValueId>& values) {
  std::set<std::string> names;
  for (const ValueId id : values) names.insert(graph.value(id).name);
  return names;
}

// Channels are the last dimension in memory.
bool LastIsChannel(const Value& value, bool product) {
  return product || value.layout == Layout::kNhwc || value.shape.size() == 2;
}

IntegerFacts Integers(const LayerResult& layer) {
  const auto count = static_cast<double>(std::max<int64_t>(1, layer.similarity.count));
  return {.sqnr_db = layer.alone.sqnr_db,
          .median_channel_db = layer.alone_channels.median_db,
          .worst_channel_db = layer.alone_channels.worst_db,
          .worst_channel = layer.alone_channels.worst_channel,
          .saturated = static_cast<double>(layer.saturated) / count,
          .saturated_count = layer.saturated,
          .moves = layer.moves};
}

void SetRange(const ValueRange& range, QuantMode mode, TensorFacts& facts) {
  const bool symmetric = mode == QuantMode::kSymmetric;
  facts.range_low = !symmetric ? range.low : range.is_signed ? -range.threshold : range.low;
  facts.range_high = symmetric ? range.threshold : range.high;
  facts.has_range = facts.range_high > facts.range_low;
}

}  // namespace

std::vector<TensorFacts> DescribeTensors(const TensorSources& sources) {
  const Graph& graph = sources.graph;
  const Uses uses = FindUses(graph);
  const std::vector<NodeId> producers = graph.Producers();
  RangeOptions options;
  options.mode = sources.mode;
  options.shift_negative = true;
  const RangeResult ranges = PropagateRanges(graph, sources.table, options);
  const std::set<std::string> equalizable =
      NamesOf(graph, EqualizableValues(graph, EqualizeThrough::kFunctions));
  std::map<std::string, const TensorStatistics*> statistics;
  for (const TensorStatistics& one : sources.statistics.tensors) statistics[one.name] = &one;
  std::map<std::string, const LayerResult*> layers;
  for (const LayerResult& layer : sources.layers) layers[layer.tensor] = &layer;
  const auto zero_filters = FindZeroFilters(graph);
  std::vector<TensorFacts> tensors;
  for (const ValueId id : CalibratedValues(graph)) {
    const Value& value = graph.value(id);
    const NodeId maker = producers[id.index()];
    TensorFacts facts{.tensor = value.name};
    if (maker.valid()) {
      facts.node = graph.node(maker).name;
      facts.op = OpName(graph.node(maker).op);
      facts.product = ReadProduct(graph, graph.node(maker)).has_value();
    }
    facts.output = uses.output[id.index()];
    const auto& readers = uses.readers[id.index()];
    if (readers.size() == 1 && !facts.output) facts.read_by = *readers.begin();
    facts.equalizable = equalizable.contains(value.name);
    if (ranges.has_range[id.index()]) SetRange(ranges.ranges[id.index()], sources.mode, facts);
    if (const TensorRange* range = sources.table.Find(value.name)) facts.method = range->method;
    if (const auto at = statistics.find(value.name); at != statistics.end())
      DescribeValues(*at->second, facts);
    if (const auto at = sources.extremes.find(value.name); at != sources.extremes.end()) {
      facts.sample_peaks = at->second.sample_peaks;
      if (LastIsChannel(value, facts.product)) {
        facts.channel_min = at->second.min;
        facts.channel_max = at->second.max;
      }
    }
    if (const auto at = zero_filters.find(value.name); at != zero_filters.end())
      facts.zero_filters = at->second;
    if (const auto at = layers.find(value.name); at != layers.end() && at->second->integer)
      facts.integer = Integers(*at->second);
    tensors.push_back(std::move(facts));
  }
  return tensors;
}

}  // namespace rshift
