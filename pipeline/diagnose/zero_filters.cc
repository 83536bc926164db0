#include "pipeline/diagnose/zero_filters.h"

#include "quantize/equalize/product_weights.h"

namespace rshift {
namespace {

bool IsZeroFilter(const Graph& graph, const ProductWeights& product, int64_t o) {
  const auto bias = graph.value(product.bias).constant->As<float>();
  // A bias for all channels may be one number.
  if (bias[bias.size() == 1 ? 0 : static_cast<size_t>(o)] != 0) return false;
  const auto weights = graph.value(product.weights).constant->As<float>();
  for (int64_t i = 0; i < product.inputs_of_group; ++i) {
    for (int64_t t = 0; t < product.taps; ++t)
      if (weights[static_cast<size_t>(product.Index(o, i, t))] != 0) return false;
  }
  return true;
}

}  // namespace

std::map<std::string, std::vector<int64_t>> FindZeroFilters(const Graph& graph) {
  std::map<std::string, std::vector<int64_t>> found;
  for (const Node& node : graph.nodes()) {
    const auto product = ReadProduct(graph, node);
    if (!product || !product->bias.valid()) continue;
    for (int64_t o = 0; o < product->outputs; ++o)
      if (IsZeroFilter(graph, *product, o)) found[graph.value(product->y).name].push_back(o);
  }
  return found;
}

}  // namespace rshift
