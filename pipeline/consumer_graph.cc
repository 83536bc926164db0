#include "pipeline/consumer_graph.h"

#include <vector>

#include "base/error.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

// Every output byte is an input byte.
bool Follows(const Graph& graph, const Node& node) {
  return MovesInput(graph, node) || std::holds_alternative<MaxPool>(node.op);
}

// What is clipped of the input is missing from the output just so: bytes of inputs, at most
// requantized, or means of them.
bool Carries(const Graph& graph, const Node& node) {
  return Follows(graph, node) || std::holds_alternative<Concat>(node.op) ||
         std::holds_alternative<AveragePool>(node.op) || std::holds_alternative<Resize>(node.op);
}

// Nodes that read the tensor, or one that holds its values, in order; apart from that, where the
// values get to.
class Walk {
 public:
  Walk(const Graph& graph, ValueId tensor) : graph_(graph), tensor_(tensor) {
    const auto size = static_cast<size_t>(graph.value_count());
    std::vector<bool> same(size), carried(size);
    same[tensor.index()] = carried[tensor.index()] = true;
    Seen(tensor);
    for (const Node& node : graph.nodes()) {
      if (Reads(node, same)) {
        nodes_.push_back(&node);
        if (Follows(graph, node)) same[node.outputs[0].index()] = true;
      }
      if (!Reads(node, carried)) continue;
      if (Carries(graph, node)) {
        carried[node.outputs[0].index()] = true;
        Seen(node.outputs[0]);
      } else {
        Seen(node);
      }
    }
    same_ = std::move(same);
  }

  ConsumerGraph Result() {
    ConsumerGraph result{.graph = {}, .readers = Readers(), .keep_all = keep_all_};
    Graph& to = result.graph;
    to.name = Cat("consumers of ", graph_.value(tensor_).name);
    ids_.resize(static_cast<size_t>(graph_.value_count()));
    Copy(tensor_, to);
    for (const Node* node : nodes_) {
      Node copy = *node;
      for (ValueId& input : copy.inputs) {
        if (input.valid()) input = Copy(input, to);
      }
      for (ValueId& output : copy.outputs) {
        const bool ends = !same_[output.index()];
        ids_[output.index()] = to.AddValue(graph_.value(output));
        output = ids_[output.index()];
        if (!ends) continue;
        to.outputs.push_back(output);
        to.output_names.push_back(to.value(output).name);
      }
      to.AddNode(std::move(copy));
    }
    return result;
  }

 private:
  static bool Reads(const Node& node, const std::vector<bool>& values) {
    for (const ValueId input : node.inputs) {
      if (input.valid() && values[input.index()]) return true;
    }
    return false;
  }

  void KeepAll(const std::string& why) {
    if (keep_all_.empty()) keep_all_ = why;
  }
  void Seen(ValueId id) {
    if (graph_.IsOutput(id)) KeepAll("an output of the model");
  }
  void Seen(const Node& node) {
    if (std::holds_alternative<Softmax>(node.op)) KeepAll("read by a Softmax");
    if (graph_.value(node.outputs[0]).dtype != DType::kF32)
      KeepAll(Cat("read by ", OpName(node.op), ", which decides by it"));
  }

  // An input of the new graph unless one of its nodes makes it.
  ValueId Copy(ValueId id, Graph& to) {
    ValueId& copy = ids_[id.index()];
    if (copy.valid()) return copy;
    copy = to.AddValue(graph_.value(id));
    if (!graph_.value(id).is_constant()) to.inputs.push_back(copy);
    return copy;
  }

  std::string Readers() const {
    std::string text;
    size_t more = 0;
    for (const Node* node : nodes_) {
      if (same_[node->outputs[0].index()]) continue;
      if (text.empty())
        text = Cat(OpName(node->op), " '", node->name, "'");
      else
        ++more;
    }
    return more == 0 ? text : Cat(text, " and ", more, " more");
  }

  const Graph& graph_;
  const ValueId tensor_;
  std::vector<const Node*> nodes_;
  std::vector<bool> same_;    // by value: the tensor itself, moved or not
  std::vector<ValueId> ids_;  // by value: of the copy
  std::string keep_all_;
};

}  // namespace

ConsumerGraph ConsumersOf(const Graph& graph, ValueId tensor) {
  return Walk(graph, tensor).Result();
}

}  // namespace rshift
