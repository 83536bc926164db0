#include "quantize/weight_bits.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// One tap, one group: a matrix product.
bool IsMatrixProduct(const Graph& graph, const Node& node) {
  if (std::holds_alternative<MatMul>(node.op)) return true;
  const Conv* conv = std::get_if<Conv>(&node.op);
  const Shape& w = graph.value(node.inputs[1]).shape;  // [OC, IC/groups, KH, KW]
  return conv != nullptr && conv->groups == 1 && w[2] == 1 && w[3] == 1;
}

// By node: some product with constant weights lies before it, and some behind it.
struct Surroundings {
  std::vector<bool> before, behind;
};

Surroundings FindSurroundings(const Graph& graph) {
  const size_t count = graph.nodes().size();
  Surroundings result{std::vector<bool>(count), std::vector<bool>(count)};
  std::vector<bool> made(static_cast<size_t>(graph.value_count()));   // behind a product
  std::vector<bool> taken(static_cast<size_t>(graph.value_count()));  // before a product
  for (size_t n = 0; n < count; ++n) {
    const Node& node = graph.nodes()[n];
    for (const ValueId id : node.inputs)
      result.before[n] = result.before[n] || (id.valid() && made[id.index()]);
    const bool now = result.before[n] || HasConstantWeights(graph, node);
    for (const ValueId id : node.outputs) made[id.index()] = now;
  }
  for (size_t n = count; n-- > 0;) {
    const Node& node = graph.nodes()[n];
    for (const ValueId id : node.outputs) result.behind[n] = result.behind[n] || taken[id.index()];
    if (!result.behind[n] && !HasConstantWeights(graph, node)) continue;
    for (const ValueId id : node.inputs) {
      if (id.valid()) taken[id.index()] = true;
    }
  }
  return result;
}

bool AsksFor4Bits(const QuantizeConfig& config) {
  const auto asks = [](const LayerConfig& layer) { return layer.weight_bits == 4; };
  return std::ranges::any_of(config.layers,
                             [&](const auto& entry) { return asks(entry.second); }) ||
         std::ranges::any_of(config.types, [&](const auto& entry) { return asks(entry.second); }) ||
         std::ranges::any_of(config.patterns, [&](const auto& p) { return asks(p.layer); });
}

// What --auto has put into F32: the file has no such entry beside one of weight_bits.
bool IsFloatByName(const Graph& graph, const Node& node, const QuantizeConfig& config) {
  const auto is_float = [&](const std::string& name) {
    const auto entry = config.layers.find(name);
    return entry != config.layers.end() && entry->second.float32.value_or(false);
  };
  const std::string& tensor = graph.value(node.outputs[0]).name;
  return is_float(node.name) || is_float(tensor) || is_float(ModelName(tensor));
}

bool Has4Bits(const Graph& integer, const Node& node) {
  if (node.inputs.size() < 2 || !node.inputs[1].valid()) return false;
  const Value& w = integer.value(node.inputs[1]);
  return w.is_constant() && w.dtype == DType::kS8 && w.origin != nullptr && w.origin->bits == 4;
}

}  // namespace

QuantizeConfig WithWeightBits(const Graph& graph, QuantizeConfig config) {
  const Surroundings around = FindSurroundings(graph);
  std::vector<std::string> names;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (!HasConstantWeights(graph, node) || !IsMatrixProduct(graph, node)) continue;
    if (!around.before[n] || !around.behind[n]) continue;
    if (graph.value(node.inputs[1]).origin != nullptr) continue;
    const LayerConfig layer = LayerOf(graph, node, config);
    if (layer.weight_bits || layer.float32.value_or(false)) continue;
    names.push_back(node.name);
  }
  for (const std::string& name : names) config.layers[name].weight_bits = 4;
  RSHIFT_REQUIRE(AsksFor4Bits(config), ErrorCode::kInvalidInput,
                 "--weight-bits 4: the model has no 1x1 convolution or matrix product between its "
                 "first layer and its last; name layers by weight_bits in --config");
  return config;
}

void CheckWeightBits(const Graph& graph, const Graph& integer, const QuantizeConfig& config) {
  std::map<std::string, const Node*> made;
  for (const Node& node : integer.nodes()) made.emplace(node.name, &node);
  for (const Node& node : graph.nodes()) {
    const std::string& tensor = graph.value(node.outputs[0]).name;
    for (const std::string& name : {node.name, tensor, ModelName(tensor)}) {
      const auto entry = config.layers.find(name);
      if (entry == config.layers.end() || entry->second.line == 0) continue;
      if (entry->second.weight_bits != 4) continue;
      if (IsFloatByName(graph, node, config)) continue;
      const auto found = made.find(node.name);
      RSHIFT_REQUIRE(found != made.end() && Has4Bits(integer, *found->second),
                     ErrorCode::kInvalidInput, EntryPlace(config, entry->second), ": '", name,
                     "' has no integer weights of its own (it is computed in F32, or as part of a "
                     "recurrent cell): leave weight_bits out");
    }
  }
}

WeightBitsCount CountWeightsOf4Bits(const Graph& integer) {
  WeightBitsCount count;
  std::set<ValueId> seen;
  for (const Node& node : integer.nodes()) {
    if (!Has4Bits(integer, node)) continue;
    ++count.layers;
    if (seen.insert(node.inputs[1]).second)
      count.weights += NumElements(integer.value(node.inputs[1]).shape);
  }
  return count;
}

}  // namespace rshift
