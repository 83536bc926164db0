// What the passes share: who makes and reads a value, constants read as numbers.
#ifndef RSHIFT_GRAPH_PASSES_UTIL_H_
#define RSHIFT_GRAPH_PASSES_UTIL_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// A snapshot of the edges; make a new one after changing the graph.
class Links {
 public:
  explicit Links(const Graph& graph);
  // Null when the value is a graph input or a constant.
  const Node* Producer(ValueId id) const;
  NodeId ProducerId(ValueId id) const { return producers_[id.index()]; }
  const std::vector<NodeId>& Consumers(ValueId id) const { return consumers_[id.index()]; }
  // The value is read exactly once and leaves the graph nowhere: it may vanish into its reader.
  bool IsInternal(ValueId id) const;
  // The producer's attributes when it is a T, else null.
  template <typename T>
  const T* ProducerAs(ValueId id) const {
    const Node* node = id.valid() ? Producer(id) : nullptr;
    return node == nullptr ? nullptr : std::get_if<T>(&node->op);
  }

 private:
  const Graph* graph_;
  std::vector<NodeId> producers_;
  std::vector<std::vector<NodeId>> consumers_;
};

// The number a constant of one F32 element holds, of any rank.
std::optional<float> ScalarConstant(const Graph& graph, ValueId id);
// True when that number is `wanted` to float accuracy (exporters round constants such as sqrt(2)).
bool IsScalar(const Graph& graph, ValueId id, double wanted);

// An F32 constant that broadcasts to `shape` and varies along `axis` only, as shape[axis] numbers.
std::optional<std::vector<double>> ChannelConstant(const Graph& graph, ValueId id,
                                                   const Shape& shape, int64_t axis);
ValueId AddFloats(Graph& graph, const std::string& name, Shape shape,
                  const std::vector<double>& numbers);

// Takes the node out of the data flow; RemoveUnused drops it.
void Disconnect(Node& node);
// Order after rewriting: unused things gone, nodes sorted.
Graph Tidy(Graph graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_UTIL_H_
