#include "quantize/index_functions.h"

#include <algorithm>

#include "quantize/values.h"

namespace rshift {
namespace {

using Values = std::vector<bool>;  // by value

// What a Conv or MatMul reads, moved or through functions of one activation.
Values Features(const Graph& graph, const std::vector<OpKind>& kinds) {
  Values features(graph.value_count(), false);
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const auto activations = std::count_if(node.inputs.begin(), node.inputs.end(),
                                           [&](ValueId id) { return IsF32Activation(graph, id); });
    const bool passes = kinds[n] == OpKind::kMove || activations == 1;
    const bool reads = kinds[n] == OpKind::kAlways || (passes && features[node.outputs[0].index()]);
    if (!reads) continue;
    for (ValueId id : node.inputs) {
      if (IsF32Activation(graph, id)) features[id.index()] = true;
    }
  }
  return features;
}

// What it reads decides which elements are read or kept behind it.
bool MakesIndices(const Node& node) {
  const bool selects = std::visit([]<typename T>(const T&) { return kSelects<T>; }, node.op);
  if (selects) return true;
  const auto* cast = std::get_if<Cast>(&node.op);
  return cast != nullptr && (cast->to == DType::kS32 || cast->to == DType::kS64);
}

// Something of `exact`, and besides it only what was another type before.
bool ReadsOnly(const Graph& graph, const Node& node, const Values& exact,
               const std::vector<NodeId>& producers) {
  bool any = false;
  for (ValueId id : node.inputs) {
    if (!IsF32Activation(graph, id)) continue;
    const NodeId maker = producers[id.index()];
    const bool converted =
        maker.valid() && std::holds_alternative<Cast>(graph.nodes()[maker.index()].op);
    if (!exact[id.index()] && !converted) return false;
    any = any || exact[id.index()];
  }
  return any;
}

struct Exact {
  std::vector<bool> nodes;
  Values values;
};

// Step 1.
Exact Backwards(const Graph& graph, const std::vector<OpKind>& kinds,
                const std::vector<bool>& from) {
  const Values features = Features(graph, kinds);
  Exact found{std::vector<bool>(graph.nodes().size(), false), Values(graph.value_count(), false)};
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const ValueId y = node.outputs[0];
    if (!from[n] && (!found.values[y.index()] || features[y.index()])) continue;
    const bool convolves = kinds[n] == OpKind::kAlways;
    if (convolves && !std::holds_alternative<MatMul>(node.op)) continue;
    found.nodes[n] = true;
    for (ValueId id : node.inputs) {
      if (IsF32Activation(graph, id) && !convolves) found.values[id.index()] = true;
    }
  }
  for (ValueId id : graph.inputs) found.values[id.index()] = false;
  return found;
}

}  // namespace

std::vector<bool> IndexFunctions(const Graph& graph, const std::vector<OpKind>& kinds) {
  std::vector<bool> from;
  for (const Node& node : graph.nodes()) from.push_back(MakesIndices(node));
  Exact exact = Backwards(graph, kinds, from);
  const std::vector<NodeId> producers = graph.Producers();
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (kinds[n] == OpKind::kAlways || !ReadsOnly(graph, node, exact.values, producers)) continue;
    exact.nodes[n] = true;
    exact.values[node.outputs[0].index()] = true;
  }
  return exact.nodes;
}

std::vector<bool> FunctionsBefore(const Graph& graph, const std::vector<OpKind>& kinds,
                                  const std::vector<bool>& from) {
  return Backwards(graph, kinds, from).nodes;
}

}  // namespace rshift
