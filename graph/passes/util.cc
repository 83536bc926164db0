#include "graph/passes/util.h"

#include <algorithm>
#include <cmath>

namespace rshift {

Links::Links(const Graph& graph)
    : graph_(&graph),
      producers_(graph.Producers()),
      consumers_(graph.Consumers()),
      is_output_(graph.value_count(), false) {
  for (ValueId id : graph.outputs) is_output_[id.index()] = true;
  for (int i = 0; i < graph.value_count(); ++i) names_.Reserve(graph.value(ValueId(i)).name);
}

void Links::Detach(NodeId id) {
  const Node& node = graph_->node(id);
  for (ValueId input : node.inputs) {
    if (!input.valid()) continue;
    std::vector<NodeId>& readers = consumers_[input.index()];
    const auto found = std::lower_bound(readers.begin(), readers.end(), id);
    if (found != readers.end() && *found == id) readers.erase(found);
  }
  for (ValueId output : node.outputs) {
    if (output.valid() && producers_[output.index()] == id) producers_[output.index()] = NodeId();
  }
}

void Links::Attach(NodeId id) {
  const auto values = static_cast<size_t>(graph_->value_count());
  producers_.resize(values);
  consumers_.resize(values);
  is_output_.resize(values, false);
  const Node& node = graph_->node(id);
  for (ValueId input : node.inputs) {
    if (!input.valid()) continue;
    std::vector<NodeId>& readers = consumers_[input.index()];
    readers.insert(std::upper_bound(readers.begin(), readers.end(), id), id);
  }
  for (ValueId output : node.outputs) {
    if (output.valid()) producers_[output.index()] = id;
  }
}

bool Links::IsOutput(ValueId id) const { return is_output_[id.index()]; }

const Node* Links::Producer(ValueId id) const {
  const NodeId node = producers_[id.index()];
  return node.valid() ? &graph_->node(node) : nullptr;
}

bool Links::IsInternal(ValueId id) const {
  return consumers_[id.index()].size() == 1 && !IsOutput(id);
}

std::optional<float> ScalarConstant(const Graph& graph, ValueId id) {
  if (!id.valid()) return std::nullopt;
  const Value& value = graph.value(id);
  if (!value.is_constant() || value.dtype != DType::kF32 || NumElements(value.shape) != 1) {
    return std::nullopt;
  }
  return value.constant->As<float>()[0];
}

bool IsScalar(const Graph& graph, ValueId id, double wanted) {
  const std::optional<float> found = ScalarConstant(graph, id);
  return found && std::abs(*found - wanted) <= 1e-5 * std::abs(wanted);
}

std::optional<std::vector<double>> ChannelConstant(const Graph& graph, ValueId id,
                                                   const Shape& shape, int64_t axis) {
  if (!id.valid()) return std::nullopt;
  const Value& value = graph.value(id);
  if (!value.is_constant() || value.dtype != DType::kF32 || value.shape.size() > shape.size()) {
    return std::nullopt;
  }
  const size_t missing = shape.size() - value.shape.size();
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const int64_t dim = static_cast<int64_t>(i + missing);
    if (value.shape[i] != 1 && (dim != axis || value.shape[i] != shape[dim])) return std::nullopt;
  }
  const auto numbers = value.constant->As<float>();
  if (numbers.size() == 1) return std::vector<double>(shape[axis], numbers[0]);
  return std::vector<double>(numbers.begin(), numbers.end());
}

ValueId AddFloats(Graph& graph, Links& links, const std::string& name, Shape shape,
                  const std::vector<double>& numbers) {
  const std::vector<float> floats(numbers.begin(), numbers.end());
  return graph.AddConstant<float>(links.TakeName(name), DType::kF32, std::move(shape), floats);
}

void Disconnect(Node& node) {
  node.inputs.clear();
  node.outputs.clear();
}

Graph Tidy(Graph graph) {
  graph.RemoveUnused();
  graph.SortTopologically();
  return graph;
}

}  // namespace rshift
