// What the passes share: who makes and reads a value, constants read as numbers.
#ifndef RSHIFT_GRAPH_PASSES_UTIL_H_
#define RSHIFT_GRAPH_PASSES_UTIL_H_

#include <optional>
#include <string>
#include <vector>

#include "base/unique_names.h"
#include "graph/graph.h"

namespace rshift {

// The edges and names of a graph that a pass rewrites node by node. Each node that changes is
// detached before and attached after, so that one Links serves the whole pass.
class Links {
 public:
  explicit Links(const Graph& graph);
  // Forgets what node `id` reads and makes; call it while the node still says so.
  void Detach(NodeId id);
  // Takes in what node `id` reads and makes now.
  void Attach(NodeId id);
  // `base`, or `base` with a suffix that makes it unique among all names there were; it is taken.
  std::string TakeName(const std::string& base) { return names_.Take(base); }
  // Null when the value is a graph input or a constant.
  const Node* Producer(ValueId id) const;
  NodeId ProducerId(ValueId id) const { return producers_[id.index()]; }
  const std::vector<NodeId>& Consumers(ValueId id) const { return consumers_[id.index()]; }
  bool IsOutput(ValueId id) const;
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
  std::vector<std::vector<NodeId>> consumers_;  // ascending
  std::vector<bool> is_output_;
  UniqueNames names_;
};

// The number a constant of one F32 element holds, of any rank.
std::optional<float> ScalarConstant(const Graph& graph, ValueId id);
// True when that number is `wanted` to float accuracy (exporters round constants such as sqrt(2)).
bool IsScalar(const Graph& graph, ValueId id, double wanted);

// An F32 constant that broadcasts to `shape` and varies along `axis` only, as shape[axis] numbers.
std::optional<std::vector<double>> ChannelConstant(const Graph& graph, ValueId id,
                                                   const Shape& shape, int64_t axis);
// Under `name`, made unique.
ValueId AddFloats(Graph& graph, Links& links, const std::string& name, Shape shape,
                  const std::vector<double>& numbers);

// Takes the node out of the data flow; RemoveUnused drops it.
void Disconnect(Node& node);
// Order after rewriting: unused things gone, nodes sorted.
Graph Tidy(Graph graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_UTIL_H_
