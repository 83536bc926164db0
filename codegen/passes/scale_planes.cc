#include "codegen/passes/scale_planes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/passes/rewriter.h"

namespace rshift {
namespace {

// A constant of one number for each channel of `x`.
bool IsOfChannels(const Value& value, const Value& x) {
  const Shape& shape = value.shape;
  if (!value.is_constant() || value.dtype != DType::kF32) return false;
  const Shape channels = {x.shape[1], 1, 1};
  return shape == channels || shape == Shape{1, x.shape[1], 1, 1};
}

class ScaledPlanes {
 public:
  explicit ScaledPlanes(const Graph& graph)
      : graph_(graph), producers_(graph.Producers()), consumers_(graph.Consumers()) {}

  // The product that this sum alone reads; null for none.
  const Node* ProductOf(const Node& sum) const {
    if (!IsScale(sum, BinaryOp::kAdd)) return nullptr;
    const ValueId product = sum.inputs[0];
    if (graph_.IsOutput(product) || consumers_[product.index()].size() != 1) return nullptr;
    const NodeId producer = producers_[product.index()];
    if (!producer.valid()) return nullptr;
    const Node& node = graph_.node(producer);
    if (!IsScale(node, BinaryOp::kMul) || std::get<Binary>(node.op).clamp.active()) return nullptr;
    return &node;
  }
  // Whether a sum takes this product in.
  bool IsTaken(const Node& product) const {
    if (product.outputs.size() != 1) return false;
    const std::vector<NodeId>& readers = consumers_[product.outputs[0].index()];
    return readers.size() == 1 && ProductOf(graph_.node(readers[0])) == &product;
  }

 private:
  // Images in ONNX order by a constant of their channels.
  bool IsScale(const Node& node, BinaryOp op) const {
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->op != op) return false;
    const Value& x = graph_.value(node.inputs[0]);
    const Value& y = graph_.value(node.outputs[0]);
    return x.dtype == DType::kF32 && y.dtype == DType::kF32 && !x.is_constant() &&
           x.layout == Layout::kPlain && x.shape.size() == 4 && x.shape == y.shape &&
           NumElements(x.shape) > 0 && x.shape[1] > 1 &&
           IsOfChannels(graph_.value(node.inputs[1]), x);
  }

  const Graph& graph_;
  std::vector<NodeId> producers_;
  std::vector<std::vector<NodeId>> consumers_;
};

void WriteScale(GraphRewriter& rewriter, const Node& product, const Node& sum) {
  const int64_t channels = rewriter.OldInput(product, 0).shape[1];
  Conv conv;
  conv.groups = channels;
  conv.clamp = std::get<Binary>(sum.op).clamp;
  const auto shaped = [&](const Node& node, const Shape& shape) {
    return rewriter.Temporary(node.inputs[1], "__channels", shape, Layout::kPlain);
  };
  rewriter.AddNode(sum.name, conv,
                   {rewriter.Same(product.inputs[0]), shaped(product, {channels, 1, 1, 1}),
                    shaped(sum, {channels})},
                   rewriter.Same(sum.outputs[0]));
}

}  // namespace

Graph ScalePlanes(const Graph& graph) {
  const ScaledPlanes finder(graph);
  const std::vector<Node>& nodes = graph.nodes();
  if (std::none_of(nodes.begin(), nodes.end(),
                   [&](const Node& node) { return finder.ProductOf(node) != nullptr; }))
    return graph;
  Graph scaled = RewriteNodes(graph, [&](GraphRewriter& rewriter, const Node& node) {
    if (const Node* product = finder.ProductOf(node); product != nullptr) {
      WriteScale(rewriter, *product, node);
      return true;
    }
    return finder.IsTaken(node);
  });
  scaled.RemoveUnused();
  return scaled;
}

}  // namespace rshift
