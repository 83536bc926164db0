#include "quantize/types.h"

#include <algorithm>
#include <variant>

#include "quantize/numerics/qparams.h"

namespace rshift {

IntType TypeOfRange(const ValueRange& range, QuantMode mode) {
  const bool symmetric = mode == QuantMode::kSymmetric;
  if (symmetric && !range.is_signed && range.low < 0)
    return {DType::kU8, numerics::AsymmetricParams(range.low, range.threshold, 0, 255)};
  const QuantParams params = symmetric ? numerics::SymmetricParams(range.threshold, range.is_signed)
                                       : numerics::AsymmetricParams(range.low, range.high);
  const bool is_unsigned = symmetric && !range.is_signed;
  return {is_unsigned ? DType::kU8 : DType::kS8, {params.scale, params.zero_point}};
}

namespace {

// Numbers of 16 or 4 bits in f32 (graph/onnx/quant.cc, QuantizeWide): divided by a scale, rounded,
// mostly with a zero point added, and held to the integers' ends.
bool HoldsToIntegers(const Graph& graph, const std::vector<NodeId>& producers, const Node& node) {
  const auto* clip = std::get_if<Clip>(&node.op);
  const auto* binary = std::get_if<Binary>(&node.op);
  if (clip == nullptr && binary == nullptr) return false;
  const Clamp& clamp = clip != nullptr ? clip->clamp : binary->clamp;
  const float levels = clamp.hi - clamp.lo + 1;
  const bool ends = clamp.lo == 0 || clamp.lo == -levels / 2;
  if (!ends || (levels != 65536 && levels != 16)) return false;
  const auto is_by_number = [&](const Node& of, BinaryOp op) {
    const auto* own = std::get_if<Binary>(&of.op);
    return own != nullptr && own->op == op && graph.value(of.inputs[1]).is_constant() &&
           NumElements(graph.value(of.inputs[1]).shape) == 1;
  };
  const auto maker = [&](const Node& of) -> const Node* {
    const NodeId id = producers[of.inputs[0].index()];
    return id.valid() ? &graph.node(id) : nullptr;
  };
  if (binary != nullptr && !is_by_number(node, BinaryOp::kAdd)) return false;
  const Node* from = maker(node);
  if (clip != nullptr && from != nullptr && is_by_number(*from, BinaryOp::kAdd))
    from = maker(*from);
  const auto* unary = from == nullptr ? nullptr : std::get_if<Unary>(&from->op);
  if (unary == nullptr || unary->op != UnaryOp::kRound) return false;
  const Node* units = maker(*from);
  return units != nullptr && is_by_number(*units, BinaryOp::kDiv);
}

}  // namespace

bool HoldsQuantization(const Graph& graph) {
  const std::vector<NodeId> producers = graph.Producers();
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return HoldsToIntegers(graph, producers, node) || std::holds_alternative<Quantize>(node.op) ||
           std::holds_alternative<Dequantize>(node.op) ||
           std::holds_alternative<FakeQuantize>(node.op) ||
           std::holds_alternative<QFixedLstmCell>(node.op);
  });
}

}  // namespace rshift
