// The layout pass. See layout_builder.h for the idea.

#include "graph/passes/layout_ops.h"
#include "graph/passes/passes.h"

namespace rshift {
namespace {

Graph Rebuild(const Graph& graph, bool spatial) {
  LayoutBuilder builder(graph);
  for (const Node& node : graph.nodes()) {
    if (std::holds_alternative<Reshape>(node.op) || std::holds_alternative<Identity>(node.op)) {
      builder.AddReshape(node.inputs[0], node);
    } else if (std::holds_alternative<Transpose>(node.op)) {
      builder.AddTranspose(node.inputs[0], node);
    } else if (!(spatial && (AddSpatial(builder, node) || AddChannelPRelu(builder, node) ||
                             AddFollower(builder, node) || AddSelection(builder, node) ||
                             AddMatMulOfFlattened(builder, node)))) {
      AddPlain(builder, node);
    }
  }
  return builder.Finish();
}

bool IsPlain(const Graph& graph) {
  for (int i = 0; i < graph.value_count(); ++i) {
    if (graph.value(ValueId(i)).layout != Layout::kPlain) return false;
  }
  return true;
}

}  // namespace

Graph ToNhwc(const Graph& graph) { return Rebuild(graph, true); }

// Transposes of Transposes and Reshapes of Reshapes become one; what moves nothing becomes a
// Reshape.
Graph RemoveRedundantTransposes(Graph graph) {
  if (!IsPlain(graph)) return graph;
  return Rebuild(graph, false);
}

int CountTransposes(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes()) {
    const auto* transpose = std::get_if<Transpose>(&node.op);
    if (transpose == nullptr) continue;
    if (!Normalize(graph.value(node.inputs[0]).shape, transpose->perm).IsPlain()) ++count;
  }
  return count;
}

}  // namespace rshift
