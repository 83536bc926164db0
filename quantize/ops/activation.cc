// Clip, LeakyReLU, PReLU; functions of one value as tables.
#include <cmath>
#include <utility>

#include "base/error.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

ByteLayer LayerOfBytes(Emitter& emitter, const Node& node) {
  ByteLayer layer{emitter.Type(node.inputs[0]), emitter.Type(node.outputs[0])};
  layer.multiplier_bits =
      emitter.Layer(node).multiplier_bits.value_or(emitter.options().target.leaky_multiplier_bits);
  return layer;
}

void EmitByteOp(Emitter& emitter, const Node& node, Op op) {
  const ValueId input = emitter.Int(node.inputs[0]);
  emitter.AddNode(node.name, std::move(op), {input}, emitter.DefineInt(node.outputs[0]));
}

void EmitLeaky(Emitter& emitter, const Node& node, double alpha) {
  EmitByteOp(emitter, node, RulesOf(emitter).MakeLeakyRelu(LayerOfBytes(emitter, node), alpha));
}

// One number, or one for each element of the last dimension.
bool IsSlopeOfChannel(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  const Value& slope = graph.value(node.inputs[1]);
  if (!slope.is_constant()) return false;
  const int64_t count = NumElements(slope.shape);
  return count == 1 || (!x.shape.empty() && count == x.shape.back() && slope.shape.back() == count);
}

// By a table of pairs of bytes.
bool PairsPRelu(const Graph& graph, const Node& node, const Arithmetic& rules) {
  if (!rules.HasPReluOfPairs()) return false;
  return rules.RoundsSlopes() || !IsSlopeOfChannel(graph, node);
}

}  // namespace

const Arithmetic& RulesOf(const Emitter& emitter) { return emitter.rules(); }

// Equal scales after BackwardCalibration: a clamp. Otherwise a requantization with that clamp.
void EmitClip(Emitter& emitter, const Node& node, const Clip& op) {
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(node.outputs[0]);
  EmitByteOp(emitter, node,
             RulesOf(emitter).MakeClip({x, y}, RulesOf(emitter).Bounds(op.clamp, y)));
}

void EmitLeakyRelu(Emitter& emitter, const Node& node, const LeakyRelu& op) {
  EmitLeaky(emitter, node, static_cast<double>(op.alpha));
}

OpSupport SupportPRelu(const Graph& graph, const Node& node, const Arithmetic& rules) {
  const Value& slope = graph.value(node.inputs[1]);
  if (PairsPRelu(graph, node, rules)) return {OpKind::kFunction, ""};
  if (!slope.is_constant()) return {OpKind::kFloat, "its slope is not constant"};
  const int64_t count = NumElements(slope.shape);
  if (count == 1) return {OpKind::kFunction, ""};
  if (!IsSlopeOfChannel(graph, node))
    return {OpKind::kFloat, "its slope is not one number for each channel"};
  if (!rules.HasPRelu()) return {OpKind::kFloat, "this profile has no integer PRelu"};
  return {OpKind::kFunction, ""};
}

void EmitPRelu(Emitter& emitter, const Node& node) {
  if (PairsPRelu(emitter.old(), node, RulesOf(emitter))) return EmitPReluOfPairs(emitter, node);
  const auto slopes = emitter.old().value(node.inputs[1]).constant->As<float>();
  for (float slope : slopes) {
    RSHIFT_REQUIRE(std::isfinite(slope), ErrorCode::kInvalidInput, node.name, ": a slope is ",
                   slope, ", expected a finite number; repair the model");
  }
  if (slopes.size() == 1) {
    EmitLeaky(emitter, node, static_cast<double>(slopes[0]));
    return;
  }
  EmitByteOp(emitter, node, RulesOf(emitter).MakePRelu(LayerOfBytes(emitter, node), slopes));
}

void EmitUnary(Emitter& emitter, const Node& node, const Unary& op) {
  EmitByteOp(emitter, node, RulesOf(emitter).MakeUnary(LayerOfBytes(emitter, node), op));
}

}  // namespace rshift
