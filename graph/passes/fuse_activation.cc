// Relu, Relu6 and Clip become the clamp of the operator before them; clips of clips become one.
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

}  // namespace

Graph FuseActivation(Graph graph) {
  Links links(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    Node& node = graph.nodes()[i];
    const auto* clip = std::get_if<Clip>(&node.op);
    if (clip == nullptr || graph.value(node.outputs[0]).dtype != DType::kF32) continue;
    const NodeId producer = links.ProducerId(node.inputs[0]);
    if (!producer.valid() || !links.IsInternal(node.inputs[0])) continue;
    Node& before = graph.nodes()[producer.index()];
    Clamp* clamp = ClampSlot(before.op);
    if (clamp == nullptr) continue;
    *clamp = Compose(*clamp, clip->clamp);
    links.Detach(producer);
    links.Detach(NodeId(static_cast<int32_t>(i)));
    before.outputs = node.outputs;
    Disconnect(node);
    links.Attach(producer);
  }
  return Tidy(std::move(graph));
}

}  // namespace rshift
