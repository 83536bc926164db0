#include "quantize/equalize/product_weights.h"

#include <variant>

namespace rshift {
namespace {

bool IsConstantF32(const Graph& graph, ValueId id) {
  return id.valid() && graph.value(id).is_constant() && graph.value(id).dtype == DType::kF32;
}

bool EndsInChannels(const Value& value, int64_t channels) {
  return !value.is_constant() && value.dtype == DType::kF32 && !value.shape.empty() &&
         value.shape.back() == channels;
}

}  // namespace

std::optional<ProductWeights> ReadProduct(const Graph& graph, const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  const auto* transposed = std::get_if<ConvTranspose>(&node.op);
  const auto* matmul = std::get_if<MatMul>(&node.op);
  if (conv == nullptr && transposed == nullptr && matmul == nullptr) return std::nullopt;
  ProductWeights product{.x = node.inputs[0],
                         .weights = node.inputs[1],
                         .bias = node.inputs.size() > 2 ? node.inputs[2] : ValueId(),
                         .y = node.outputs[0],
                         .transposed = conv == nullptr};
  if (!IsConstantF32(graph, product.weights)) return std::nullopt;
  if (product.bias.valid() && !IsConstantF32(graph, product.bias)) return std::nullopt;
  const Shape& shape = graph.value(product.weights).shape;
  if (matmul != nullptr) {
    if (shape.size() != 2) return std::nullopt;
    product.inputs = product.inputs_of_group = shape[0];
    product.outputs = product.outputs_of_group = shape[1];
  } else if (shape.size() < 3) {
    return std::nullopt;
  } else {
    const int64_t groups = conv != nullptr ? conv->groups : transposed->groups;
    product.inputs = conv != nullptr ? shape[1] * groups : shape[0];
    product.outputs = conv != nullptr ? shape[0] : shape[1] * groups;
    product.inputs_of_group = product.inputs / groups;
    product.outputs_of_group = product.outputs / groups;
    for (size_t d = 2; d < shape.size(); ++d) product.taps *= shape[d];
  }
  if (!EndsInChannels(graph.value(product.x), product.inputs) ||
      !EndsInChannels(graph.value(product.y), product.outputs))
    return std::nullopt;
  return product;
}

}  // namespace rshift
