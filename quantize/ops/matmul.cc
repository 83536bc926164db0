// MatMul with constant weights [K, N]: as a convolution whose output channels are the N columns.
// MatMul of two activations, or with any other constant.
#include "base/error.h"
#include "quantize/numerics/accumulator.h"
#include "quantize/ops/linear_node.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"
#include "quantize/ops/weights.h"

namespace rshift {

// The second factor is a matrix of weights, its columns the output channels.
bool HasConstantMatrix(const Graph& graph, const Node& node) {
  return !graph.value(node.inputs[0]).is_constant() && graph.value(node.inputs[1]).is_constant() &&
         graph.value(node.inputs[1]).shape.size() == 2;
}

namespace {

// Sums of so many products fit int32 whatever the zero points are.
constexpr int64_t kMostProducts = numerics::kInt32Limit / (255 * 255);

OpSupport SupportBatched(const Graph& graph, const Node& node, const Arithmetic& rules) {
  const Value &a = graph.value(node.inputs[0]), &b = graph.value(node.inputs[1]);
  if (!rules.HasBatchedMatMul())
    return {OpKind::kFloat, "its second operand is no matrix of weights"};
  if (a.shape.size() < 2 || b.shape.size() < 2) return {OpKind::kFloat, "an operand is a vector"};
  if (NumElements(a.shape) == 0 || NumElements(b.shape) == 0)
    return {OpKind::kFloat, "an operand is empty"};
  if (node.inputs.size() > 2 && node.inputs[2].valid())
    return {OpKind::kFloat, "a product of two activations has a bias"};
  if (a.shape.back() > kMostProducts)
    return {OpKind::kFloat,
            Cat("sums of ", a.shape.back(), " products of two activations may leave int32")};
  return {OpKind::kAlways, ""};
}

struct Factor {
  ValueId id;
  IntType type;
};

Factor FactorOf(Emitter& emitter, const Node& node, size_t input) {
  const ValueId old = node.inputs[input];
  const Value& value = emitter.old().value(old);
  if (!value.is_constant()) return {emitter.Int(old), emitter.Type(old)};
  const auto [type, bytes] = IntegersOf(emitter, node, value);
  return {emitter.AddConstant(value.name + "__q", value.layout, value.shape, type, bytes), type};
}

// As of convolutions: a model that brings its integers is compared with others to the last bit.
int BitsOf(const Emitter& emitter) {
  return HoldsQuantization(emitter.old()) ? 32 : emitter.options().target.conv_multiplier_bits;
}

void EmitBatched(Emitter& emitter, const Node& node, const MatMul& op) {
  const Factor a = FactorOf(emitter, node, 0), b = FactorOf(emitter, node, 1);
  const FusedPostOps fused = emitter.PostOps(node);
  double factor = 1;
  for (const RealPostOp& op_behind : fused.ops) factor *= static_cast<double>(op_behind.alpha);
  const BatchedMatMulLayer layer{a.type, b.type,   emitter.Type(fused.y),
                                 factor, op.clamp, BitsOf(emitter)};
  emitter.AddNode(node.name, RulesOf(emitter).MakeBatchedMatMul(layer), {a.id, b.id},
                  emitter.DefineInt(fused.y));
}

}  // namespace

OpSupport SupportMatMul(const Graph& graph, const Node& node, const Arithmetic& rules) {
  if (!HasConstantMatrix(graph, node)) return SupportBatched(graph, node, rules);
  const Value& a = graph.value(node.inputs[0]);
  if (a.shape.size() < 2) return {OpKind::kFloat, "its first operand is a vector"};
  if (node.inputs.size() > 2 && node.inputs[2].valid() &&
      !graph.value(node.inputs[2]).is_constant()) {
    return {OpKind::kFloat, "its bias is not constant"};
  }
  return {OpKind::kAlways, ""};
}

void EmitMatMul(Emitter& emitter, const Node& node, const MatMul& op) {
  if (!HasConstantMatrix(emitter.old(), node)) return EmitBatched(emitter, node, op);
  const Value& w = emitter.old().value(node.inputs[1]);
  WeightRequest request = RequestOf(emitter, node);
  request.k = w.shape[0];
  request.channels = w.shape[1];
  request.channel_stride = 1;
  request.k_stride = w.shape[1];
  request.channel_axis = 1;
  request.kind = LinearKind::kFullyConnected;
  request.clamp = op.clamp;
  const ProductInput input = InputOfProduct(emitter, node);
  request.x = input.type;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  const ValueId weights = emitter.AddWeights(w.name + "__q", w.layout, w.shape, 1, quantized.scales,
                                             quantized.weights, quantized.bits);
  if (input.type.is_s16()) {
    RequireOneFactor(node, quantized.linear);
    QMatMulS16 wide{{.clamp = quantized.linear.clamp, .rounding = quantized.linear.rounding},
                    std::move(quantized.linear.channels)};
    return AddLinearNode(emitter, node, std::move(wide), input.x, weights, op.clamp);
  }
  AddLinearNode(emitter, node, QMatMul{std::move(quantized.linear)}, input.x, weights, op.clamp);
}

}  // namespace rshift
