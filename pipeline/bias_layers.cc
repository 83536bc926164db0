#include "pipeline/bias_layers.h"

#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/passes/read_bytes.h"

namespace rshift {
namespace {

// An integer product whose weights, and whose input, have one zero point.
bool IsLinear(const Node& node) {
  if (std::holds_alternative<QConvS16>(node.op) || std::holds_alternative<QMatMulS16>(node.op))
    return true;
  const QConv* conv = std::get_if<QConv>(&node.op);
  if (const auto* transposed = std::get_if<QConvTranspose>(&node.op)) conv = &transposed->conv;
  if (conv != nullptr && !conv->zero_x.empty()) return false;
  const QLinear* linear = conv;
  if (linear == nullptr) linear = std::get_if<QMatMul>(&node.op);
  return linear != nullptr && linear->zero_w.empty();
}

// What a product reads of the integer graph: bytes that are widened for it are what there is in any
// program (codegen/passes/read_bytes.h), with the same values.
const Value& InputOf(const Graph& integer, const std::vector<NodeId>& producers, const Node& made) {
  const ValueId x = made.inputs[0];
  const NodeId maker = producers[x.index()];
  const bool widened = maker.valid() && WidensBytes(integer, integer.node(maker));
  return integer.value(widened ? integer.node(maker).inputs[0] : x);
}

std::optional<BiasLayer> LayerOf(const Graph& floating, const Node& node, const Graph& integer,
                                 const std::vector<NodeId>& producers, const Node& made) {
  const std::optional<ProductWeights> product = ReadProduct(floating, node);
  if (!product || !IsLinear(made)) return std::nullopt;
  const Value &x = InputOf(integer, producers, made), &w = integer.value(made.inputs[1]);
  const bool integers = x.dtype == DType::kS8 || x.dtype == DType::kU8 || x.dtype == DType::kS16;
  if (!integers || !x.quant || w.origin == nullptr || w.dtype != DType::kS8) return std::nullopt;
  const auto outputs = static_cast<size_t>(product->outputs);
  if (x.shape != floating.value(product->x).shape || w.origin->scales.size() != outputs)
    return std::nullopt;
  BiasLayer layer;
  layer.node = node.name;
  layer.product = *product;
  layer.taps = TapGeometryOf(floating, node);
  layer.weights = floating.value(product->weights).constant->As<float>();
  if (product->bias.valid()) layer.bias = floating.value(product->bias).constant->As<float>();
  layer.integers = w.constant->As<int8_t>();
  layer.inputs_first =
      std::holds_alternative<QMatMul>(made.op) || std::holds_alternative<QMatMulS16>(made.op);
  layer.scales = w.origin->scales;
  layer.bits = w.origin->bits;
  layer.x = floating.value(product->x).name;
  layer.integer_x = x.name;
  layer.dtype = x.dtype;
  layer.quant = *x.quant;
  const Value& y = integer.value(made.outputs[0]);
  layer.quantum = y.quant ? y.quant->scale * (y.dtype == DType::kS16 ? 256 : 1) : 0;
  return layer;
}

// The sum over inputs and taps of weight(index) * sums(tap, input channel).
template <typename Sum, typename W>
Sum Product(const BiasLayer& layer, const ProductWeights& order, std::span<const W> weights,
            const std::vector<Sum>& sums, int64_t output) {
  Sum total = 0;
  for (int64_t i = 0; i < order.inputs_of_group; ++i) {
    const int64_t input = order.Input(output, i);
    for (int64_t t = 0; t < order.taps; ++t) {
      total += static_cast<Sum>(weights[static_cast<size_t>(order.Index(output, i, t))]) *
               sums[static_cast<size_t>(t * layer.taps.channels + input)];
    }
  }
  return total;
}

std::vector<int64_t> RawSums(const BiasLayer& layer, const std::byte* x) {
  if (layer.dtype == DType::kS16) return TapSums(layer.taps, reinterpret_cast<const int16_t*>(x));
  if (layer.dtype == DType::kU8) return TapSums(layer.taps, reinterpret_cast<const uint8_t*>(x));
  return TapSums(layer.taps, reinterpret_cast<const int8_t*>(x));
}

std::vector<int64_t> IntegerSums(const BiasLayer& layer, std::span<const std::byte> x) {
  std::vector<int64_t> sums = RawSums(layer, x.data());
  const auto channels = static_cast<size_t>(layer.taps.channels);
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] -= layer.quant.zero_point * layer.taps.Met(i / channels);
  }
  return sums;
}

}  // namespace

std::vector<BiasLayer> FindBiasLayers(const Graph& floating, const Graph& integer) {
  const std::vector<NodeId> producers = integer.Producers();
  // Other nodes may have the name of a product, where a pass wrote several for one; two products of
  // one name cannot be told apart.
  std::map<std::string, std::vector<const Node*>> made;
  for (const Node& node : integer.nodes()) {
    if (IsLinear(node)) made[node.name].push_back(&node);
  }
  std::map<ValueId, int> readers;
  std::map<std::string, int> products;
  for (const Node& node : floating.nodes()) {
    if (node.inputs.size() > 1) ++readers[node.inputs[1]];
    if (ReadProduct(floating, node)) ++products[node.name];
  }
  std::vector<BiasLayer> layers;
  for (const Node& node : floating.nodes()) {
    const auto found = made.find(node.name);
    if (found == made.end() || node.inputs.size() < 2 || readers[node.inputs[1]] > 1) continue;
    if (found->second.size() > 1 || products[node.name] > 1) continue;
    std::optional<BiasLayer> layer = LayerOf(floating, node, integer, producers, *found->second[0]);
    if (layer && layer->taps.positions > 0) layers.push_back(std::move(*layer));
  }
  return layers;
}

std::vector<double> FloatMeans(const BiasLayer& layer, const float* x) {
  const std::vector<double> sums = TapSums(layer.taps, x);
  const auto positions = static_cast<double>(layer.taps.positions);
  std::vector<double> means;
  for (int64_t o = 0; o < layer.product.outputs; ++o)
    means.push_back(Product(layer, layer.product, layer.weights, sums, o) / positions);
  return means;
}

std::vector<double> IntegerMeans(const BiasLayer& layer, std::span<const std::byte> x) {
  const std::vector<int64_t> sums = IntegerSums(layer, x);
  const auto positions = static_cast<double>(layer.taps.positions);
  ProductWeights order = layer.product;
  order.transposed = layer.inputs_first;
  std::vector<double> means;
  for (int64_t o = 0; o < layer.product.outputs; ++o) {
    const auto unit = static_cast<double>(layer.quant.scale) *
                      static_cast<double>(layer.scales[static_cast<size_t>(o)]);
    means.push_back(unit * static_cast<double>(Product(layer, order, layer.integers, sums, o)) /
                    positions);
  }
  return means;
}

}  // namespace rshift
