#include "quantize/set_biases.h"

#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "base/unique_names.h"
#include "graph/conv_or_matmul.h"

namespace rshift {

Graph SetBiases(Graph graph, const NodeBiases& biases) {
  if (biases.empty()) return graph;
  UniqueNames names;
  for (int i = 0; i < graph.value_count(); ++i) names.Take(graph.value(ValueId(i)).name);
  for (Node& node : graph.nodes()) {
    const auto found = biases.find(node.name);
    if (found == biases.end() || !IsConvOrMatMul(node.op)) continue;
    if (!graph.value(node.inputs[1]).is_constant()) continue;  // a pass wrote it beside the product
    const std::vector<float>& bias = found->second;
    Value value;
    value.name = names.Take(node.name + "__bias");
    value.shape = {static_cast<int64_t>(bias.size())};
    value.constant = MakeConstant(std::span<const float>(bias));
    const ValueId id = graph.AddValue(std::move(value));
    if (node.inputs.size() < 3) node.inputs.resize(3);
    node.inputs[2] = id;
  }
  graph.RemoveUnused();
  graph.Check();
  return graph;
}

}  // namespace rshift
