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

}  // namespace

const char* MovementName(const Graph& graph, const Node& node) {
  const auto name = Overloaded{
      [](const Identity&) { return "Identity"; },
      [](const Reshape&) { return "Reshape"; },
      [](const Transpose&) { return "Transpose"; },
      [](const Slice&) { return "Slice"; },
      [](const Pad&) { return "Pad"; },
      [](const Expand&) { return "Expand"; },
      [](const Tile&) { return "Tile"; },
      [](const DepthToSpace&) { return "DepthToSpace"; },
      [](const SpaceToDepth&) { return "SpaceToDepth"; },
      [](const Resize& op) { return op.mode == ResizeMode::kNearest ? "Resize" : nullptr; },
      [&](const Gather&) -> const char* {
        const bool fits =
            !graph.value(node.inputs[0]).is_constant() && graph.value(node.inputs[1]).is_constant();
        return fits ? "Gather" : nullptr;
      },
      [](const auto&) -> const char* { return nullptr; },
  };
  return std::visit(name, node.op);
}

void ApplyForwardRules(Propagation& state) {
  for (size_t n = 0; n < state.graph.nodes().size(); ++n) {
    if (!state.active[n]) continue;
    const Node& node = state.graph.nodes()[n];
    const char* name = MovementName(state.graph, node);
    if (name == nullptr) continue;
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
