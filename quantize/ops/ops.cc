#include "quantize/ops/ops.h"

#include "base/error.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {

OpSupport IntegerSupport(const Graph& graph, const Node& node, const Profile& profile) {
  const Arithmetic& rules = ArithmeticOf(profile);
  if (MovesInput(graph, node)) return {OpKind::kMove, ""};
  const auto support = Overloaded{
      [&](const Conv&) { return SupportConv(graph, node); },
      [&](const ConvTranspose& op) { return SupportConvTranspose(graph, node, op); },
      [&](const MatMul&) { return SupportMatMul(graph, node, rules); },
      [&](const Binary& op) { return SupportBinary(graph, node, op, rules); },
      [&](const PRelu&) { return SupportPRelu(graph, node, rules); },
      [&](const Unary& op) { return SupportUnary(op); },
      [&](const Reduce& op) { return SupportReduce(graph, node, op, rules); },
      [&](const Softmax& op) { return SupportSoftmax(graph, node, op, rules); },
      [&](const LayerNorm& op) { return SupportLayerNorm(graph, node, op, rules); },
      [&](const InstanceNorm&) { return SupportInstanceNorm(graph, node, rules); },
      [&](const AveragePool& op) {
        if (rules.HasPool(op)) return OpSupport{OpKind::kFunction, ""};
        return OpSupport{OpKind::kFloat,
                         "this profile has no integer form of it, or none that counts pads"};
      },
      [](const LeakyRelu&) {
        return OpSupport{OpKind::kFunction, ""};
      },
      [](const MaxPool&) {
        return OpSupport{OpKind::kMove, ""};
      },
      [](const Clip&) {
        return OpSupport{OpKind::kMove, ""};
      },
      [](const Concat&) {
        return OpSupport{OpKind::kMove, ""};
      },
      [&](const Resize& op) { return SupportResize(graph, node, op, rules); },
      [](const ArgMax&) {
        return OpSupport{OpKind::kMove, ""};
      },
      [&](const Where&) {
        if (rules.HasWhere()) return OpSupport{OpKind::kMove, ""};
        return OpSupport{OpKind::kFloat, "this profile has no integer form of it"};
      },
      [](const NonMaxSuppression&) {
        return OpSupport{OpKind::kFloat,
                         "compares scores and overlaps of boxes: in 8 bits many are equal"};
      },
      [](const NonZero&) {
        return OpSupport{OpKind::kFloat, "what rounds to 0 would be gone"};
      },
      [](const TopK&) {
        return OpSupport{OpKind::kFloat, "compares elements: in 8 bits many are equal"};
      },
      [](const Unique&) {
        return OpSupport{OpKind::kFloat, "what rounds to the same number would be one"};
      },
      [](const Gather&) {
        return OpSupport{OpKind::kFloat, "reads rows of a constant"};
      },
      [&](const auto&) {
        return OpSupport{OpKind::kFloat, Cat(OpName(node.op), " has no integer form")};
      },
  };
  return std::visit(support, node.op);
}

bool IsDynamic(const Op& op) {
  return std::holds_alternative<DynamicRange>(op) || std::holds_alternative<DynamicQuantize>(op) ||
         std::holds_alternative<DynamicConv>(op) || std::holds_alternative<DynamicMatMul>(op);
}

void EmitInteger(Emitter& emitter, const Node& node) {
  if (emitter.HasInt16(node) && EmitInt16(emitter, node)) return;
  const auto emit = Overloaded{
      [&](const Conv& op) { EmitConv(emitter, node, op); },
      [&](const ConvTranspose& op) { EmitConvTranspose(emitter, node, op); },
      [&](const MatMul& op) { EmitMatMul(emitter, node, op); },
      [&](const MaxPool& op) { EmitMaxPool(emitter, node, op); },
      [&](const AveragePool& op) { EmitAveragePool(emitter, node, op); },
      [&](const Reduce& op) { EmitReduce(emitter, node, op); },
      [&](const Softmax& op) { EmitSoftmax(emitter, node, op); },
      [&](const LayerNorm& op) { EmitLayerNorm(emitter, node, op); },
      [&](const InstanceNorm& op) { EmitInstanceNorm(emitter, node, op); },
      [&](const Binary& op) { EmitBinary(emitter, node, op); },
      [&](const Clip& op) { EmitClip(emitter, node, op); },
      [&](const LeakyRelu& op) { EmitLeakyRelu(emitter, node, op); },
      [&](const PRelu&) { EmitPRelu(emitter, node); },
      [&](const Unary& op) { EmitUnary(emitter, node, op); },
      [&](const Concat& op) { EmitConcat(emitter, node, op); },
      [&](const Pad& op) { EmitPad(emitter, node, op); },
      [&](const Where&) { EmitWhere(emitter, node); },
      [&](const ArgMax& op) {
        const ValueId x = emitter.Int(node.inputs[0]);
        emitter.AddNode(node.name, op, {x}, emitter.DefineFloat(node.outputs[0]));
      },
      [&](const Resize& op) {
        if (op.mode == ResizeMode::kNearest) return EmitMovement(emitter, node, op);
        EmitResize(emitter, node, op);
      },
      [&](const auto& op) { EmitMovement(emitter, node, op); },
  };
  std::visit(emit, node.op);
}

}  // namespace rshift
