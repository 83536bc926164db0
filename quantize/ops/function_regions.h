// Operators that are together a function of one value, and not one behind the other alone:
// x - Tanh(x), Square(Relu(x)) written as a product with itself, x * Sigmoid(x) * Sigmoid(x).
#ifndef RSHIFT_QUANTIZE_OPS_FUNCTION_REGIONS_H_
#define RSHIFT_QUANTIZE_OPS_FUNCTION_REGIONS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "quantize/ops/ops.h"

namespace rshift {

struct GraphEdges {
  explicit GraphEdges(const Graph& graph);
  const Graph& graph;
  std::vector<NodeId> producers;
  std::vector<std::vector<NodeId>> consumers;
  std::vector<bool> behind_pairs;  // by node: one of two activations, or a function behind one
};

// The most nodes that end at node `last` and read one value, in order; empty when there are none
// with an operator of two activations among them. Every value between them is read by them alone
// and `may_vanish`; each node `may_change`.
std::vector<size_t> FindFunctionRegion(const GraphEdges& edges, size_t last,
                                       const std::function<bool(size_t)>& may_change,
                                       const std::function<bool(ValueId)>& may_vanish);

// Whether the nodes are what FindFunctionRegion() returns, and not a chain.
bool IsFunctionRegion(const Graph& graph, const std::vector<size_t>& nodes);
// What the last one gives of the value that they read.
ValueFunction FunctionOfRegion(const Graph& graph, const std::vector<size_t>& nodes);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_FUNCTION_REGIONS_H_
