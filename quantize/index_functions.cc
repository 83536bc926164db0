#include "quantize/index_functions.h"

#include <algorithm>

namespace rshift {
namespace {

using Values = std::vector<bool>;  // by value

bool IsActivation(const Graph& graph, ValueId id) {
  return id.valid() && !graph.value(id).is_constant() && graph.value(id).dtype == DType::kF32;
}

// What a Conv or MatMul reads, moved or through functions of one activation.
Values Features(const Graph& graph, const std::vector<OpKind>& kinds) {
  Values features(graph.value_count(), false);
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const auto activations = std::count_if(node.inputs.begin(), node.inputs.end(),
                                           [&](ValueId id) { return IsActivation(graph, id); });
    const bool passes = kinds[n] == OpKind::kMove || activations == 1;
    const bool reads = kinds[n] == OpKind::kAlways || (passes && features[node.outputs[0].index()]);
    if (!reads) continue;
    for (ValueId id : node.inputs) {
      if (IsActivation(graph, id)) features[id.index()] = true;
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
    if (!IsActivation(graph, id)) continue;
    const NodeId maker = producers[id.index()];
    const bool converted =
        maker.valid() && std::holds_alternative<Cast>(graph.nodes()[maker.index()].op);
    if (!exact[id.index()] && !converted) return false;
    any = any || exact[id.index()];
  }
  return any;
}

}  // namespace

std::vector<bool> IndexFunctions(const Graph& graph, const std::vector<OpKind>& kinds) {
  std::vector<bool> from;
  for (const Node& node : graph.nodes()) from.push_back(MakesIndices(node));
  return ExactFunctions(graph, kinds, from);
}

std::vector<bool> ExactFunctions(const Graph& graph, const std::vector<OpKind>& kinds,
                                 const std::vector<bool>& from) {
  const Values features = Features(graph, kinds);
  Values exact(graph.value_count(), false);
  std::vector<bool> found(graph.nodes().size(), false);
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const ValueId y = node.outputs[0];
    if (!from[n] && (!exact[y.index()] || features[y.index()])) continue;
    const bool convolves = kinds[n] == OpKind::kAlways;
    if (convolves && !std::holds_alternative<MatMul>(node.op)) continue;
    found[n] = true;
    for (ValueId id : node.inputs) {
      if (IsActivation(graph, id) && !convolves) exact[id.index()] = true;
    }
  }
  for (ValueId id : graph.inputs) exact[id.index()] = false;
  const std::vector<NodeId> producers = graph.Producers();
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (kinds[n] == OpKind::kAlways || !ReadsOnly(graph, node, exact, producers)) continue;
    found[n] = true;
    exact[node.outputs[0].index()] = true;
  }
  return found;
}

}  // namespace rshift
