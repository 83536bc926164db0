// Weights that number their rows go the way of the model's own: ToNhwc moves them.
#include "interop/onnx_rows.h"

#include <span>

#include "graph/passes/passes.h"

namespace rshift {
namespace {

const Value* MatrixOf(const Graph& graph, const Node& node) {
  if (!std::holds_alternative<MatMul>(node.op)) return nullptr;
  const Value& weights = graph.value(node.inputs[1]);
  const bool matrix =
      weights.is_constant() && weights.dtype == DType::kF32 && weights.shape.size() == 2;
  return matrix ? &weights : nullptr;
}

}  // namespace

std::map<std::string, std::vector<int64_t>> FindOnnxRows(const Graph& graph) {
  Graph numbered = graph;
  for (const Node& node : graph.nodes()) {
    if (MatrixOf(graph, node) == nullptr) continue;
    Value& weights = numbered.value(node.inputs[1]);
    const auto columns = static_cast<size_t>(weights.shape[1]);
    std::vector<float> numbers(static_cast<size_t>(NumElements(weights.shape)));
    for (size_t e = 0; e < numbers.size(); ++e) numbers[e] = static_cast<float>(e / columns);
    weights.constant = MakeConstant(std::span<const float>(numbers));
    weights.origin = nullptr;
  }
  numbered = ToNhwc(numbered);
  std::map<std::string, std::vector<int64_t>> found;
  for (const Node& node : numbered.nodes()) {
    const Value* weights = MatrixOf(numbered, node);
    if (weights == nullptr) continue;
    const auto numbers = weights->constant->As<float>();
    std::vector<int64_t>& rows = found[numbered.value(node.outputs[0]).name];
    for (int64_t p = 0; p < weights->shape[0]; ++p)
      rows.push_back(static_cast<int64_t>(numbers[static_cast<size_t>(p * weights->shape[1])]));
  }
  return found;
}

}  // namespace rshift
