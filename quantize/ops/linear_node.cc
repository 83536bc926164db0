#include "quantize/ops/linear_node.h"

#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// Of results that stay f32: nothing divides them.
IntType RealResult() { return {DType::kF32, {1.0f, 0}, {}, {}}; }

// The weight scales that MKL-DNN's output scales o stand for: S_w = o S_y / S_x, or o / S_x where
// operations of the configuration follow, whose own scales divide by S_y.
void TakeOutputScales(const OneDnnConfig& given, WeightRequest* request) {
  RSHIFT_REQUIRE(given.post_ops.empty() || !given.output_scales.empty(), ErrorCode::kInvalidInput,
                 request->node,
                 ": onednn: post_ops without output_scales: they see what those give; add "
                 "output_scales");
  request->onednn = given;
  const bool real = !given.post_ops.empty() || request->y.dtype == DType::kF32;
  const double unit = real ? 1.0 : static_cast<double>(request->y.quant.scale);
  for (const float scale : given.output_scales) {
    request->scales_w.push_back(static_cast<float>(static_cast<double>(scale) * unit /
                                                   static_cast<double>(request->x.quant.scale)));
  }
}

// The configuration's weight_bits, where the weights can have them.
int WeightBitsOf(const Emitter& emitter, const WeightRequest& request, const LayerConfig& layer) {
  const int bits = layer.weight_bits.value_or(8);
  const bool given = !layer.onednn.output_scales.empty() || emitter.rules().HalfResults();
  const bool integers = request.weights_origin != nullptr && request.weights_origin->bits != bits;
  RSHIFT_REQUIRE(
      bits == 8 || !(given || integers), ErrorCode::kInvalidInput,
      EntryPlace(emitter.options().config, layer), ": '", request.node, "': weight_bits ", bits,
      " is for weights whose scales are chosen here; these are given (",
      integers ? "--scales, or the model" : "onednn or ascend attributes", "): leave it out");
  return bits;
}

// An fp16 result. relu is the operator's own; whatever else the clamp does is a Clip behind it.
void AddHalfNode(Emitter& emitter, const Node& node, Op op, std::vector<ValueId> inputs, ValueId y,
                 const Clamp& clamp) {
  constexpr float kOpen = std::numeric_limits<float>::infinity();
  if (clamp.hi == kOpen && (clamp.lo == 0 || clamp.lo == -kOpen)) {
    emitter.AddNode(node.name, std::move(op), std::move(inputs), emitter.DefineHalf(y));
    return;
  }
  const ValueId raw = emitter.TemporaryHalf(y, "__unclipped");
  emitter.AddNode(node.name, std::move(op), std::move(inputs), raw);
  emitter.AddHalfResult(node.name + "__clip", Clip{clamp},
                        {emitter.FloatOfHalf(raw, node.name + "__unclipped_f32")}, y);
}

}  // namespace

WeightRequest RequestOf(Emitter& emitter, const Node& node) {
  const Value& w = emitter.old().value(node.inputs[1]);
  WeightRequest request;
  request.node = node.name;
  request.weights = w.constant->As<float>();
  request.weights_origin = w.origin.get();
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    const Value& bias = emitter.old().value(node.inputs[2]);
    request.bias = bias.constant->As<float>();
    request.bias_origin = bias.origin.get();
  }
  request.x = emitter.Type(node.inputs[0]);
  const FusedPostOps fused = emitter.PostOps(node);
  request.y = fused.real ? RealResult() : emitter.Type(fused.y);
  request.post_ops = fused.ops;
  request.slopes = fused.slopes;
  request.x_is_zero = emitter.IsZero(node.inputs[0]);
  request.per_channel =
      emitter.Layer(node).per_channel.value_or(emitter.options().target.per_channel_weights);
  request.weight_bits = WeightBitsOf(emitter, request, emitter.Layer(node));
  // A model that brings its integers is compared with others to the last bit; weights that got
  // theirs from another tool's scales are the target's like all others.
  request.scaled_here = emitter.options().scaled_weights;
  if (request.weights_origin == nullptr || request.scaled_here)
    request.multiplier_bits = emitter.conv_multiplier_bits();
  const Arithmetic& rules = emitter.rules();
  const bool post_ops = (fused.real && !rules.HalfResults()) || !fused.ops.empty();
  request.arithmetic = post_ops && !rules.HasPostOps() ? &OneDnnArithmetic() : &rules;
  if (request.weights_origin == nullptr) {
    TakeOutputScales(emitter.Layer(node).onednn, &request);
    if (!request.onednn.empty()) request.arithmetic = &OneDnnArithmetic();  // their formula's
  }
  if (rules.HalfResults()) {
    const AscendConfig given = emitter.Layer(node).ascend;
    request.scales_w = given.scale_w;
    request.ascend = given.Dequant();
  }
  return request;
}

void AddLinearNode(Emitter& emitter, const Node& node, Op op, ValueId x, ValueId weights,
                   const Clamp& clamp) {
  const FusedPostOps fused = emitter.PostOps(node);
  if (fused.real && emitter.rules().HalfResults()) {
    return AddHalfNode(emitter, node, std::move(op), {x, weights}, fused.y, clamp);
  }
  std::vector<ValueId> inputs = {x, weights};
  if (fused.addend.valid()) inputs.push_back(emitter.Int(fused.addend));
  const ValueId y = fused.real ? emitter.DefineFloat(fused.y) : emitter.DefineInt(fused.y);
  emitter.AddNode(node.name, std::move(op), std::move(inputs), y);
}

void RequireOneFactor(const Node& node, const QLinear& linear) {
  RSHIFT_REQUIRE(linear.negative.empty(), ErrorCode::kInternal, node.name,
                 ": words below 0 behind a 16-bit input; this is a bug in Rshift");
}

}  // namespace rshift
