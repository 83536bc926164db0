// Identity, Cast to the same type, and Reshape, Transpose, Slice, Pad... that give back their
// input.
#include <algorithm>

#include "graph/passes/passes.h"
#include "graph/passes/util.h"

namespace rshift {
namespace {

bool AllEqual(const std::vector<int64_t>& items, int64_t wanted) {
  return std::all_of(items.begin(), items.end(), [&](int64_t item) { return item == wanted; });
}

bool IsIota(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool DoesNothing(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || !node.inputs[0].valid() || node.outputs.size() != 1) return false;
  const Value& in = graph.value(node.inputs[0]);
  const Value& out = graph.value(node.outputs[0]);
  if (in.dtype != out.dtype || in.shape != out.shape || in.layout != out.layout) return false;
  if (in.quant != out.quant) return false;
  return std::visit(
      Overloaded{[](const Identity&) { return true; }, [](const Reshape&) { return true; },
                 [](const Expand&) { return true; },
                 [&](const Cast& op) { return op.to == in.dtype; },
                 [](const Transpose& op) { return IsIota(op.perm); },
                 [](const Slice& op) { return AllEqual(op.starts, 0) && AllEqual(op.steps, 1); },
                 [](const Pad& op) { return AllEqual(op.before, 0) && AllEqual(op.after, 0); },
                 [](const Tile& op) { return AllEqual(op.repeats, 1); },
                 [&](const Concat&) { return node.inputs.size() == 1; },
                 [](const auto&) { return false; }},
      node.op);
}

}  // namespace

Graph RemoveIdentity(Graph graph) {
  std::vector<ValueId> same(graph.value_count());  // what is read in a value's place, if anything
  const auto replace = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id.valid() && same[id.index()].valid()) id = same[id.index()];
    }
  };
  for (Node& node : graph.nodes()) {  // in topological order: what it reads is decided
    replace(node.inputs);
    if (!DoesNothing(graph, node)) continue;
    same[node.outputs[0].index()] = node.inputs[0];
    Disconnect(node);
  }
  replace(graph.outputs);  // their public names stay in output_names
  return Tidy(std::move(graph));
}

}  // namespace rshift
