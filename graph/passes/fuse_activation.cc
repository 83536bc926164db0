// Relu, Relu6 and Clip become the clamp of the operator before them, also through Transposes and
// Reshapes, which models whose tensors are NHWC have between the two; clips of clips become one.
#include <algorithm>

#include "graph/passes/affine.h"
#include "graph/passes/passes.h"
#include "graph/passes/util.h"

namespace rshift {
namespace {

Clamp* ClampSlot(Op& op) {
  if (Clamp* clamp = ProductClamp(op)) return clamp;
  if (auto* clip = std::get_if<Clip>(&op)) return &clip->clamp;
  auto* binary = std::get_if<Binary>(&op);
  return binary != nullptr && binary->op == BinaryOp::kAdd ? &binary->clamp : nullptr;
}

// min(max(x, lo), hi), as Clip does it: hi wins when lo > hi.
float Apply(const Clamp& clamp, float x) { return std::min(std::max(x, clamp.lo), clamp.hi); }

// first, then second, as one clamp.
Clamp Compose(const Clamp& first, const Clamp& second) {
  const float hi = Apply(second, first.hi);
  return {std::min(Apply(second, first.lo), hi), hi};
}

// The operator whose results `id` is, moved or not, when nothing else reads any of them.
NodeId Computed(const Graph& graph, const Links& links, ValueId id) {
  NodeId producer = links.ProducerId(id);
  while (producer.valid() && links.IsInternal(id)) {
    const Node& node = graph.nodes()[producer.index()];
    if (!std::holds_alternative<Transpose>(node.op) && !std::holds_alternative<Reshape>(node.op))
      return producer;
    id = node.inputs[0];
    producer = links.ProducerId(id);
  }
  return {};
}

}  // namespace

Graph FuseActivation(Graph graph) {
  Links links(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    Node& node = graph.nodes()[i];
    const auto* clip = std::get_if<Clip>(&node.op);
    if (clip == nullptr || graph.value(node.outputs[0]).dtype != DType::kF32) continue;
    const NodeId computed = Computed(graph, links, node.inputs[0]);
    if (!computed.valid()) continue;
    Clamp* clamp = ClampSlot(graph.nodes()[computed.index()].op);
    if (clamp == nullptr) continue;
    *clamp = Compose(*clamp, clip->clamp);
    const NodeId producer = links.ProducerId(node.inputs[0]);
    if (producer != computed) {  // what is clamped before it is moved has no name in the model
      Value& made = graph.value(graph.nodes()[computed.index()].outputs[0]);
      made.name = links.TakeName(graph.value(node.outputs[0]).name + "__clamped");
    }
    Node& before = graph.nodes()[producer.index()];
    links.Detach(producer);
    links.Detach(NodeId(static_cast<int32_t>(i)));
    before.outputs = node.outputs;
    Disconnect(node);
    links.Attach(producer);
  }
  return Tidy(std::move(graph));
}

}  // namespace rshift
