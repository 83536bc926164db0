// ForwardCalibration: the output takes the input's range.
#include <cmath>

#include "base/error.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

// A value this large stands for minus or plus infinity (a Pad before a MaxPool): it saturates.
constexpr float kAsGoodAsInfinite = 1e30f;

void IncludePadValue(Propagation& state, const Node& node, const Pad& pad) {
  if (pad.mode != PadMode::kConstant || !(std::fabs(pad.value) < kAsGoodAsInfinite)) return;
  state.groups.Include(node.inputs[0], pad.value, "ForwardCalibration(Pad)",
                       Cat("the range must hold the padded value ", pad.value, " of ", node.name));
}

// Values between those of x. Where the configuration keeps the ranges apart, the result is
// rescaled.
void JoinInterpolation(Propagation& state, const Node& node) {
  if (!IsInterpolation(node)) return;
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (!state.groups.CanJoin(x, y)) return;
  state.groups.Join(x, y, "ForwardCalibration(Resize)", "output takes the input's range");
}

}  // namespace

bool IsInterpolation(const Node& node) {
  const auto* resize = std::get_if<Resize>(&node.op);
  return resize != nullptr && resize->mode == ResizeMode::kLinear;
}

bool MovesInput(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Concat>(node.op)) return false;
  if (std::holds_alternative<Gather>(node.op) && graph.value(node.inputs[0]).is_constant())
    return false;
  return MovementOf(node.op) != Movement::kNone;
}

void ApplyForwardRules(Propagation& state) {
  for (size_t n = 0; n < state.graph.nodes().size(); ++n) {
    if (!state.active[n]) continue;
    const Node& node = state.graph.nodes()[n];
    if (!MovesInput(state.graph, node)) {
      JoinInterpolation(state, node);
      continue;
    }
    const char* name = OpName(node.op);
    const ValueId x = node.inputs[0], y = node.outputs[0];
    RSHIFT_REQUIRE(state.groups.CanJoin(x, y), ErrorCode::kInvalidInput, node.name,
                   ": the configuration gives '", state.graph.value(x).name, "' and '",
                   state.graph.value(y).name, "' different ranges, but ", name,
                   " only moves data; give the range to one of them");
    if (const auto* pad = std::get_if<Pad>(&node.op)) IncludePadValue(state, node, *pad);
    state.groups.Join(x, y, Cat("ForwardCalibration(", name, ")"),
                      "output takes the input's range");
  }
}

}  // namespace rshift
