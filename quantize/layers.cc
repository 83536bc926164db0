#include "quantize/layers.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/error.h"

namespace rshift {
namespace {

// Levenshtein.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string CloseMatches(const std::set<std::string>& names, const std::string& wanted) {
  std::vector<std::pair<size_t, std::string>> close;
  for (const std::string& name : names) {
    const size_t distance = Distance(name, wanted);
    const bool contains = name.find(wanted) != std::string::npos && wanted.size() > 2;
    if (contains || distance <= std::max<size_t>(2, wanted.size() / 3))
      close.push_back({distance, name});
  }
  std::sort(close.begin(), close.end());
  if (close.empty()) return "; --dump-graph lists the names";
  std::string text = "; did you mean ";
  for (size_t i = 0; i < close.size() && i < 3; ++i)
    text += (i == 0 ? "'" : ", '") + close[i].second + "'";
  return text + "?";
}

void Complete(LayerConfig* layer, const LayerConfig& other) {
  if (!layer->float32) layer->float32 = other.float32;
  if (!layer->threshold) layer->threshold = other.threshold;
  if (!layer->low) layer->low = other.low;
  if (!layer->high) layer->high = other.high;
  if (!layer->per_channel) layer->per_channel = other.per_channel;
  if (!layer->multiplier_bits) layer->multiplier_bits = other.multiplier_bits;
}

ValueRange RangeOf(const LayerConfig& layer, bool is_signed, QuantMode mode) {
  ValueRange range;
  if (mode == QuantMode::kSymmetric) {
    range.is_signed = layer.low ? *layer.low < 0 : is_signed;
    range.threshold = layer.threshold ? *layer.threshold
                                      : std::max(std::fabs(*layer.low), std::fabs(*layer.high));
  } else {
    range.low = std::min(layer.low ? *layer.low : is_signed ? -*layer.threshold : 0.0f, 0.0f);
    range.high = std::max(layer.high ? *layer.high : *layer.threshold, 0.0f);
  }
  return range;
}

// Keys that would change nothing are mistakes: the user believes that they do.
void CheckInputKeys(const std::string& name, const LayerConfig& layer) {
  RSHIFT_REQUIRE(
      !layer.float32 && !layer.per_channel && !layer.multiplier_bits, ErrorCode::kInvalidInput,
      "configuration: '", name,
      "' is an input of the model: it can have a range; mode, per_channel and multiplier_bits "
      "belong to "
      "the nodes that read it");
}

void CheckNodeKeys(const Node& node, const std::string& name, const LayerConfig& layer) {
  const bool has_weights =
      std::holds_alternative<Conv>(node.op) || std::holds_alternative<MatMul>(node.op);
  RSHIFT_REQUIRE(!layer.per_channel || has_weights, ErrorCode::kInvalidInput, "configuration: '",
                 name, "': per_channel is for Conv, Gemm and MatMul; leave it out");
  const bool has_multipliers =
      std::holds_alternative<Binary>(node.op) || std::holds_alternative<LeakyRelu>(node.op);
  RSHIFT_REQUIRE(!layer.multiplier_bits || has_multipliers, ErrorCode::kInvalidInput,
                 "configuration: '", name,
                 "': multiplier_bits is for Add and LeakyRelu; leave it out");
}

void CheckLayerKeys(const Graph& graph, const QuantizeConfig& config) {
  for (ValueId id : graph.inputs) {
    const auto found = config.layers.find(graph.value(id).name);
    if (found != config.layers.end()) CheckInputKeys(found->first, found->second);
  }
  for (const Node& node : graph.nodes()) {
    for (const std::string& name : {node.name, graph.value(node.outputs[0]).name}) {
      const auto found = config.layers.find(name);
      if (found != config.layers.end()) CheckNodeKeys(node, name, found->second);
    }
  }
}

}  // namespace

void CheckLayers(const Graph& graph, const QuantizeConfig& config) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes()) names.insert(node.name);
  for (int i = 0; i < graph.value_count(); ++i) {
    if (!graph.value(ValueId(i)).is_constant()) names.insert(graph.value(ValueId(i)).name);
  }
  for (const auto& [name, layer] : config.layers) {
    RSHIFT_REQUIRE(names.contains(name), ErrorCode::kInvalidInput,
                   "configuration: the model has no layer or tensor '", CloseMatches(names, name));
  }
  CheckLayerKeys(graph, config);
}

LayerConfig LayerOf(const Graph& graph, const Node& node, const QuantizeConfig& config) {
  LayerConfig layer;
  const auto by_tensor = config.layers.find(graph.value(node.outputs[0]).name);
  if (by_tensor != config.layers.end()) layer = by_tensor->second;
  const auto by_node = config.layers.find(node.name);
  if (by_node != config.layers.end()) Complete(&layer, by_node->second);
  return layer;
}

std::map<std::string, ValueRange> FixedRanges(const Graph& graph, const CalibrationTable& table,
                                              const QuantizeConfig& config, QuantMode mode) {
  std::map<std::string, ValueRange> fixed;
  const auto add = [&](const std::string& tensor, const LayerConfig& layer) {
    if (!layer.threshold && !layer.low) return;
    const TensorRange* entry = table.Find(tensor);
    fixed[tensor] = RangeOf(layer, entry == nullptr || entry->min < 0, mode);
  };
  for (ValueId id : graph.inputs) {
    const auto found = config.layers.find(graph.value(id).name);
    if (found != config.layers.end()) add(found->first, found->second);
  }
  for (const Node& node : graph.nodes()) {
    add(graph.value(node.outputs[0]).name, LayerOf(graph, node, config));
  }
  return fixed;
}

}  // namespace rshift
