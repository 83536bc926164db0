#include "interop/apply_float.h"

#include <algorithm>
#include <vector>

#include "quantize/overrides.h"

namespace rshift {
namespace {

// What makes the value and what reads it.
std::vector<NodeId> Around(const Graph& graph, ValueId value) {
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const bool reads =
        std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
    if (reads || node.outputs[0] == value) nodes.emplace_back(static_cast<int32_t>(n));
  }
  return nodes;
}

// Adds `to` when `from` is there and nothing else is known of it.
bool Spread(const Graph& graph, const MaybeRanges& ranges, ValueId from, ValueId to,
            std::set<ValueId>* values) {
  if (!values->contains(from) || ranges[to.index()] || graph.value(to).is_constant()) return false;
  return values->insert(to).second;
}

}  // namespace

void KeepFloat(const Graph& graph, const Node& node, QuantizeConfig* config) {
  const Value& y = graph.value(node.outputs[0]);
  LayerConfig& layer = config->layers[y.name];
  if (!layer.float32) layer.float32 = true;
}

void KeepTensorsFloat(const Graph& graph, const MaybeRanges& ranges, std::set<ValueId>* values,
                      QuantizeConfig* config) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Node& node : graph.nodes()) {
      if (!MovesValues(graph, node) || !node.inputs[0].valid()) continue;
      changed = Spread(graph, ranges, node.inputs[0], node.outputs[0], values) ||
                Spread(graph, ranges, node.outputs[0], node.inputs[0], values) || changed;
    }
  }
  for (const ValueId value : *values) {
    for (const NodeId node : Around(graph, value)) KeepFloat(graph, graph.node(node), config);
  }
}

void FillFloatRanges(const Graph& graph, const std::set<ValueId>& values,
                     const QuantizeConfig& config, MaybeRanges* ranges) {
  for (const ValueId value : values) {
    const std::vector<NodeId> nodes = Around(graph, value);
    const bool all = std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      return LayerOf(graph, graph.node(node), config).float32.value_or(false);
    });
    if (all && !(*ranges)[value.index()])
      (*ranges)[value.index()] = TensorRange{-1, 1, 1, -1, 1, "f32", 0};
  }
}

}  // namespace rshift
