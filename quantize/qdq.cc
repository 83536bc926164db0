#include "quantize/qdq.h"

#include "base/error.h"
#include "quantize/ops/ops.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// Of an entry about other nodes than QuantizeLinear and DequantizeLinear.
void CheckQdqEntry(const QuantizeConfig& config, const LayerConfig& layer,
                   const std::string& name) {
  RSHIFT_REQUIRE(layer.onednn.empty(), ErrorCode::kInvalidInput, EntryPlace(config, layer), ": '",
                 name,
                 "': onednn means nothing here: the model holds its own quantization parameters; "
                 "leave it out");
  RSHIFT_REQUIRE(layer.ascend.empty(), ErrorCode::kInvalidInput, EntryPlace(config, layer), ": '",
                 name,
                 "': ascend means nothing here: the model holds its own quantization parameters; "
                 "leave it out");
  RSHIFT_REQUIRE(!layer.threshold && !layer.low && !layer.per_channel, ErrorCode::kInvalidInput,
                 EntryPlace(config, layer), ": '", name,
                 "': threshold, low, high and per_channel mean nothing here: the model holds its "
                 "own quantization parameters; leave them out");
  RSHIFT_REQUIRE(!layer.weight_bits, ErrorCode::kInvalidInput, EntryPlace(config, layer), ": '",
                 name,
                 "': weight_bits means nothing here: the model's own integer weights have 8 or 4 "
                 "bits; leave it out");
}

}  // namespace

void CheckQdqConfig(const Graph& graph, const QuantizeConfig& config) {
  for (const auto& [name, layer] : config.layers) CheckQdqEntry(config, layer, name);
  for (const LayerPattern& p : config.patterns) CheckQdqEntry(config, p.layer, p.glob);
  for (const auto& [type, layer] : config.types) {
    CheckQdqEntry(config, layer, type);
    RSHIFT_REQUIRE(type != "Quantize" && type != "Dequantize", ErrorCode::kInvalidInput,
                   EntryPlace(config, layer), ": '", type,
                   "' has no settings; name the operators beside it");
  }
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<Quantize>(node.op) && !std::holds_alternative<Dequantize>(node.op))
      continue;
    for (const std::string& name : {node.name, graph.value(node.outputs[0]).name}) {
      const auto found = config.layers.find(name);
      if (found == config.layers.end()) continue;
      Fail(ErrorCode::kInvalidInput, EntryPlace(config, found->second), ": '", name,
           "' belongs to a QuantizeLinear or DequantizeLinear, which has no settings; name the "
           "operator beside it");
    }
  }
}

QuantMode ModeOfTypes(const Graph& graph, const QuantizeOptions& options) {
  if (options.mode_given && options.mode == QuantMode::kAsymmetric) return options.mode;
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (!value.quant || value.quant->zero_point == 0) continue;
    RSHIFT_REQUIRE(!options.mode_given, ErrorCode::kInvalidInput, "symmetric mode: tensor '",
                   value.name, "' of the model has zero point ", value.quant->zero_point,
                   ", expected 0; leave --mode out, or give --mode asymmetric");
    return QuantMode::kAsymmetric;
  }
  return QuantMode::kSymmetric;
}

void EmitModelQuantize(Emitter& emitter, const Node& node) {
  const ValueId x = node.inputs[0], q = node.outputs[0];
  if (!emitter.HasInt(x)) {
    const ValueId source = emitter.Float(x);
    const Quantize op = ArithmeticOf(emitter.options().profile).InputForm(emitter.Type(q));
    emitter.AddNode(node.name, op, {source}, emitter.DefineInt(q));
    return;
  }
  const IntType from = emitter.Type(x), to = emitter.Type(q);
  if (from == to) return emitter.Alias(q, x);
  const ValueId source = emitter.Int(x);
  emitter.AddRequantize(node.name, source, from, emitter.DefineInt(q), to, {to.qmin(), to.qmax()});
}

void EmitModelDequantize(Emitter& emitter, const Node& node) {
  emitter.Alias(node.outputs[0], node.inputs[0]);
}

}  // namespace rshift
