// Constant per-channel Add, Sub, Mul, Div: into the product before it, else long chains become one
// Mul and one Add, for channels along dimension 1 or the last one.
#include <algorithm>
#include <cmath>

#include "graph/passes/affine.h"
#include "graph/passes/passes.h"
#include "graph/passes/util.h"

namespace rshift {
namespace {

// Folds node `index` into the Conv, ConvTranspose or MatMul that feeds it.
bool FoldIntoProduct(Graph& graph, Links& links, NodeId index) {
  Node& node = graph.nodes()[index.index()];
  for (ValueId input : node.inputs) {
    if (!input.valid() || graph.value(input).is_constant()) continue;
    const NodeId producer = links.ProducerId(input);
    if (!producer.valid() || !links.IsInternal(input)) continue;
    Node& product = graph.nodes()[producer.index()];
    const std::optional<AffineStep> step =
        ReadAffineStep(graph, node, OutputChannelAxis(graph, product));
    if (!step || step->x != input || !CanFold(graph, product, step->affine)) continue;
    const std::vector<ValueId> outputs = node.outputs;
    const Clamp clamp = std::get<Binary>(node.op).clamp;
    links.Detach(producer);
    links.Detach(index);
    Fold(graph, links, product, step->affine, graph.value(outputs[0]).name);
    *ProductClamp(product.op) = clamp;
    product.outputs = outputs;
    Disconnect(node);
    links.Attach(producer);
    return true;
  }
  return false;
}

bool IsPlainMulAdd(const Graph& graph, const std::vector<size_t>& chain) {
  if (chain.size() > 2) return false;
  const auto op = [&](size_t i) { return std::get<Binary>(graph.nodes()[chain[i]].op).op; };
  return chain.size() == 1 || (op(0) == BinaryOp::kMul && op(1) == BinaryOp::kAdd);
}

// The last node of the chain becomes the Add, the one before it the Mul, the others go.
void WriteMulAdd(Graph& graph, Links& links, const std::vector<size_t>& chain, int64_t axis,
                 ValueId x, const Affine& affine) {
  for (size_t n : chain) links.Detach(NodeId(static_cast<int32_t>(n)));
  Node& last = graph.nodes()[chain.back()];
  Node& before = graph.nodes()[chain[chain.size() - 2]];
  const Clamp clamp = std::get<Binary>(last.op).clamp;
  const std::string name = graph.value(last.outputs[0]).name;
  Shape shape(graph.value(last.outputs[0]).shape.size() - axis, 1);
  shape[0] = static_cast<int64_t>(affine.scale.size());
  for (size_t i = 0; i + 2 < chain.size(); ++i) Disconnect(graph.nodes()[chain[i]]);
  Value scaled = graph.value(last.outputs[0]);
  scaled.name = links.TakeName(name + "__scaled");
  const ValueId middle = graph.AddValue(std::move(scaled));
  before.inputs = {x, AddFloats(graph, links, name + "__scale", shape, affine.scale)};
  before.outputs = {middle};
  before.op = Binary{BinaryOp::kMul, {}};
  last.inputs = {middle, AddFloats(graph, links, name + "__shift", shape, affine.shift)};
  last.op = Binary{BinaryOp::kAdd, clamp};
  for (size_t i = chain.size() - 2; i < chain.size(); ++i) {
    links.Attach(NodeId(static_cast<int32_t>(chain[i])));
  }
}

// In another order than the chain's, products of large numbers may overflow where the chain's do
// not (the dequantized mask of an attention, whose least number is the least of F32).
bool IsFarFromOverflow(const Affine& affine) {
  const auto is_far = [](float number) { return std::fabs(number) < 1e30f; };
  return std::ranges::all_of(affine.scale, is_far) && std::ranges::all_of(affine.shift, is_far);
}

// Collects the chain of affine nodes that ends at node `index`; rewrites it when that saves
// something.
bool MergeChain(Graph& graph, Links& links, size_t index, int64_t axis) {
  std::vector<size_t> chain;
  std::optional<Affine> total;
  ValueId x;
  for (NodeId id(static_cast<int32_t>(index)); id.valid();) {
    const Node& node = graph.node(id);
    if (node.outputs.empty()) break;
    const std::optional<AffineStep> step = ReadAffineStep(graph, node, axis);
    if (!step) break;
    const bool is_end = chain.empty();
    if (!is_end && (std::get<Binary>(node.op).clamp.active() || !links.IsInternal(node.outputs[0])))
      break;
    total = is_end ? step->affine : Compose(step->affine, *total);
    chain.push_back(static_cast<size_t>(id.index()));
    x = step->x;
    id = links.ProducerId(x);
  }
  std::reverse(chain.begin(), chain.end());
  if (chain.size() < 2 || IsPlainMulAdd(graph, chain) || !IsFarFromOverflow(*total)) return false;
  WriteMulAdd(graph, links, chain, axis, x, *total);
  return true;
}

// Whether the next node would continue the chain that ends here.
bool ChainGoesOn(const Graph& graph, const Links& links, const Node& node, int64_t axis) {
  if (std::get<Binary>(node.op).clamp.active() || !links.IsInternal(node.outputs[0])) return false;
  const Node& next = graph.node(links.Consumers(node.outputs[0])[0]);
  const std::optional<AffineStep> step = ReadAffineStep(graph, next, axis);
  return step && step->x == node.outputs[0];
}

}  // namespace

Graph FoldAffine(Graph graph) {
  Links links(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!std::holds_alternative<Binary>(graph.nodes()[i].op)) continue;
    FoldIntoProduct(graph, links, NodeId(static_cast<int32_t>(i)));
  }
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!std::holds_alternative<Binary>(node.op) || node.outputs.empty()) continue;
    const int64_t rank = static_cast<int64_t>(graph.value(node.outputs[0]).shape.size());
    if (rank < 2) continue;
    // Channels are the last dimension of what comes from TensorFlow.
    for (const int64_t axis : {int64_t{1}, rank - 1}) {
      if (!ChainGoesOn(graph, links, graph.nodes()[i], axis) && MergeChain(graph, links, i, axis))
        break;
    }
  }
  return Tidy(std::move(graph));
}

}  // namespace rshift
