#include "quantize/set_weights.h"

#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "base/error.h"

namespace rshift {

Graph SetWeights(Graph graph, const NodeWeights& weights) {
  if (weights.empty()) return graph;
  const std::vector<std::vector<NodeId>> consumers = graph.Consumers();
  for (const Node& node : graph.nodes()) {
    const auto found = weights.find(node.name);
    if (found == weights.end()) continue;
    const ChosenWeights& chosen = found->second;
    const bool conv = std::holds_alternative<Conv>(node.op);
    if (!conv && !std::holds_alternative<MatMul>(node.op)) continue;  // a pass wrote it beside
    if (!graph.value(node.inputs[1]).is_constant()) continue;         // as a product of two others
    RSHIFT_REQUIRE(consumers[node.inputs[1].index()].size() == 1, ErrorCode::kInternal, node.name,
                   ": shares its weights with another node");
    auto origin = std::make_shared<QuantizedOrigin>();
    const int64_t axis = conv ? 0 : 1;
    origin->axis = chosen.scales.size() == 1 ? -1 : axis;
    origin->scales = chosen.scales;
    origin->bits = chosen.bits;
    origin->zero_points.assign(chosen.scales.size(), 0);
    origin->integers = MakeConstant(std::span<const int8_t>(chosen.integers));
    graph.value(node.inputs[1]).origin = std::move(origin);
  }
  graph.Check();
  return graph;
}

}  // namespace rshift
