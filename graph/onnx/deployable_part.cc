// Where to cut a model whose end cannot be deployed.
#include <algorithm>
#include <map>
#include <set>

#include "graph/onnx/body_names.h"
#include "graph/onnx/cut.h"

namespace rshift {
namespace {

// What a network is deployed for; "ConvTranspose", "QLinearMatMul" and the like are among them.
bool IsProduct(const std::string& op_type) {
  constexpr const char* kProducts[] = {"Conv", "MatMul", "Gemm", "LSTM", "GRU", "RNN", "Attention"};
  return std::any_of(std::begin(kProducts), std::end(kProducts), [&](const char* product) {
    return op_type.find(product) != std::string::npos;
  });
}

class Search {
 public:
  Search(const onnx::GraphProto& graph, std::span<const NodeSupport> nodes,
         const ImportState& state)
      : graph_(graph), state_(state) {
    for (int n = 0; n < graph.node_size(); ++n) {
      const onnx::NodeProto& node = graph.node(n);
      const bool made = std::all_of(node.output().begin(), node.output().end(), [&](const auto& y) {
        return y.empty() || state.values.contains(y);
      });
      usable_.push_back(nodes[n].supported && made);
      for (const std::string& y : node.output()) maker_[y] = n;
      if (nodes[n].folded) continue;  // a Shape: it needs no tensor
      for (const std::string& x : node.input()) readers_[x].insert(n);
      for (const std::string& x : CapturedNames(node)) readers_[x].insert(n);
    }
    for (const auto& output : graph.output()) readers_[output.name()].insert(graph.node_size());
  }

  DeployablePart Run() {
    part_.nodes.assign(usable_.size(), false);
    for (int n = 0; n < graph_.node_size(); ++n) {
      if (usable_[n] && IsProduct(graph_.node(n).op_type())) Keep(n);
    }
    for (bool grown = true; grown;) {
      grown = false;
      for (int n = 0; n < graph_.node_size(); ++n) {
        if (part_.nodes[n] || !Follows(n)) continue;
        Keep(n);
        grown = true;
      }
    }
    for (int n = 0; n < graph_.node_size(); ++n) {
      for (const std::string& y : graph_.node(n).output()) {
        if (part_.nodes[n] && !IsConstant(y) && IsReadOutside(y)) part_.values.push_back(y);
      }
    }
    return std::move(part_);
  }

 private:
  bool IsConstant(const std::string& name) const {
    const auto found = state_.values.find(name);
    return found != state_.values.end() && state_.graph.value(found->second).is_constant();
  }
  bool IsReadOutside(const std::string& name) const {
    const auto readers = readers_.find(name);
    return readers != readers_.end() &&
           std::any_of(readers->second.begin(), readers->second.end(),
                       [&](int n) { return n == graph_.node_size() || !part_.nodes[n]; });
  }

  // The node and everything that its inputs are made from.
  void Keep(int n) {
    std::vector<int> waiting = {n};
    while (!waiting.empty()) {
      const int node = waiting.back();
      waiting.pop_back();
      if (part_.nodes[node]) continue;
      part_.nodes[node] = true;
      const auto add = [&](const std::string& x) {
        const auto maker = maker_.find(x);
        if (!x.empty() && maker != maker_.end()) waiting.push_back(maker->second);
      };
      for (const std::string& x : graph_.node(node).input()) add(x);
      for (const std::string& x : CapturedNames(graph_.node(node))) add(x);
    }
  }

  bool IsKept(const std::string& name) const {
    const auto maker = maker_.find(name);
    return maker != maker_.end() && part_.nodes[maker->second];
  }

  // Whether the part has no more outputs with the node: it makes one float tensor of known size,
  // of tensors of the part alone, one of which nothing else reads.
  bool Follows(int n) const {
    const onnx::NodeProto& node = graph_.node(n);
    if (!usable_[n] || node.output_size() != 1 || !CapturedNames(node).empty()) return false;
    const ValueId y = state_.values.at(node.output(0));
    if (state_.graph.value(y).dtype != DType::kF32 || state_.graph.value(y).is_constant() ||
        state_.bounded.contains(y.index())) {
      return false;
    }
    bool replaces = false;
    for (const std::string& x : node.input()) {
      if (x.empty() || IsConstant(x)) continue;
      if (!IsKept(x)) return false;
      replaces = replaces || readers_.at(x).size() == 1;
    }
    return replaces;
  }

  const onnx::GraphProto& graph_;
  const ImportState& state_;
  std::vector<bool> usable_;  // by node
  std::map<std::string, int> maker_;
  std::map<std::string, std::set<int>> readers_;  // an output of the graph: node_size()
  DeployablePart part_;
};

}  // namespace

DeployablePart FindDeployablePart(const onnx::GraphProto& graph, std::span<const NodeSupport> nodes,
                                  const ImportState& state) {
  return Search(graph, nodes, state).Run();
}

}  // namespace rshift
