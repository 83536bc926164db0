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

bool HoldsQuantization(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return std::holds_alternative<Quantize>(node.op) ||
           std::holds_alternative<Dequantize>(node.op) ||
           std::holds_alternative<FakeQuantize>(node.op);
  });
}

}  // namespace rshift
