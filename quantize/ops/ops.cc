#include "quantize/ops/ops.h"

#include <cmath>

#include "base/error.h"
#include "calibrate/ranges/propagation_rules.h"
#include "quantize/numerics/quantize.h"

namespace rshift {

OpSupport IntegerSupport(const Graph& graph, const Node& node) {
  if (MovementName(graph, node) != nullptr) return {OpKind::kMove, ""};
  const auto support = Overloaded{
      [&](const Conv&) { return SupportConv(graph, node); },
      [&](const MatMul&) { return SupportMatMul(graph, node); },
      [&](const Binary& op) { return SupportBinary(graph, node, op); },
      [&](const PRelu&) { return SupportPRelu(graph, node); },
      [&](const Unary& op) { return SupportUnary(op); },
      [](const AveragePool&) {
        return OpSupport{OpKind::kFunction, ""};
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
      [](const Resize&) {
        return OpSupport{OpKind::kFloat, "only the nearest mode has an integer form"};
      },
      [](const Gather&) {
        return OpSupport{OpKind::kFloat,
                         "the indices or the data are not as expected: "
                         "constant indices into an activation"};
      },
      [&](const auto&) {
        return OpSupport{OpKind::kFloat, Cat(OpName(node.op), " has no integer form")};
      },
  };
  return std::visit(support, node.op);
}

void EmitInteger(Emitter& emitter, const Node& node) {
  const auto emit = Overloaded{
      [&](const Conv& op) { EmitConv(emitter, node, op); },
      [&](const MatMul& op) { EmitMatMul(emitter, node, op); },
      [&](const MaxPool& op) { EmitMaxPool(emitter, node, op); },
      [&](const AveragePool& op) { EmitAveragePool(emitter, node, op); },
      [&](const Binary& op) { EmitBinary(emitter, node, op); },
      [&](const Clip& op) { EmitClip(emitter, node, op); },
      [&](const LeakyRelu& op) { EmitLeakyRelu(emitter, node, op); },
      [&](const PRelu&) { EmitPRelu(emitter, node); },
      [&](const Unary& op) { EmitUnary(emitter, node, op); },
      [&](const Concat& op) { EmitConcat(emitter, node, op); },
      [&](const Pad& op) { EmitPad(emitter, node, op); },
      [&](const auto& op) { EmitMovement(emitter, node, op); },
  };
  std::visit(emit, node.op);
}

ClampQ QuantizeClamp(const Clamp& clamp, const IntType& type) {
  const auto quantize = [&](float bound) {
    return numerics::QuantizeValue(bound, type.quant.scale, type.quant.zero_point, type.qmin(),
                                   type.qmax());
  };
  return {quantize(clamp.lo), quantize(clamp.hi)};
}

}  // namespace rshift
