// Clip, LeakyReLU, PReLU; functions of one value as tables.
#include <cmath>
#include <cstdint>
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

// By a table of pairs of bytes.
bool PairsPRelu(const Graph& graph, const Node& node, const Arithmetic& rules) {
  if (!rules.HasPReluOfPairs()) return false;
  const Value& slope = graph.value(node.inputs[1]);
  if (rules.RoundsSlopes()) return true;
  if (rules.HasPRelu()) return !IsSlopeOfChannel(graph, node);
  // No slope is rounded; of one alone it is a function of a byte.
  return !slope.is_constant() || (NumElements(slope.shape) != 1 && HasFewNumbers(slope));
}

// What the profile would make of tensors that have one channel each, with that channel's scales.
QChannelTables TablesOfChannels(const ByteLayer& layer, const ValueFunction& function,
                                size_t channels,
                                const std::function<QTable(const ByteLayer&)>& table_of) {
  QChannelTables tables;
  tables.table_of_channel = TableOfChannel(function, channels, [&](int32_t i, int32_t o) {
    ByteLayer own = layer;
    own.x.quant.scale = std::ldexp(layer.x.quant.scale, i);
    own.x.negative_scale = std::ldexp(layer.x.negative_scale, i);
    own.y.quant.scale = std::ldexp(layer.y.quant.scale, o);
    const QTable table = table_of(own);
    tables.entries.insert(tables.entries.end(), table.entries.begin(), table.entries.end());
  });
  return tables;
}

void EmitTable(Emitter& emitter, const Node& node, const ValueFunction& function,
               const std::function<QTable(const ByteLayer&)>& table_of) {
  const ByteLayer layer{emitter.Type(function.x), emitter.Type(node.outputs[0])};
  Op op = table_of(layer);
  if (function.scales_channels()) {
    const auto channels = static_cast<size_t>(emitter.old().value(function.x).shape.back());
    op = TablesOfChannels(layer, function, channels, table_of);
  }
  const ValueId input = emitter.Int(function.x);
  emitter.AddNode(node.name, std::move(op), {input}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace

bool IsSlopeOfChannel(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  const Value& slope = graph.value(node.inputs[1]);
  if (!slope.is_constant()) return false;
  const int64_t count = NumElements(slope.shape);
  return count == 1 || (!x.shape.empty() && count == x.shape.back() && slope.shape.back() == count);
}

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
  const Unary function(op.op, op.alpha, op.beta);
  EmitTable(emitter, node, {node.inputs[0], {}, op.input_exponents, op.output_exponents},
            [&](const ByteLayer& layer) { return RulesOf(emitter).MakeUnary(layer, function); });
}

void EmitValueFunction(Emitter& emitter, const Node& node, const ValueFunction& function) {
  if (emitter.Type(function.x).is_s16() || emitter.Type(node.outputs[0]).is_s16())
    return EmitValueFunctionInt16(emitter, node, function);
  EmitTable(emitter, node, function,
            [&](const ByteLayer& layer) { return RulesOf(emitter).Table(layer, function.f); });
}

}  // namespace rshift
