#include "codegen/passes/split_channel_scales.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rshift {
namespace {

const Unary* ScaledFunction(const Node& node) {
  const auto* op = std::get_if<Unary>(&node.op);
  return op != nullptr && op->scales_channels() ? op : nullptr;
}

class Splitter {
 public:
  explicit Splitter(const Graph& graph) : graph_(graph) {}

  Graph Run() {
    std::vector<Node> nodes = std::move(graph_.nodes());
    graph_.nodes().clear();
    for (Node& node : nodes) {
      const Unary* op = ScaledFunction(node);
      if (op == nullptr) {
        graph_.AddNode(std::move(node));
      } else {
        Split(node, *op);
      }
    }
    graph_.Check();
    return std::move(graph_);
  }

 private:
  void Split(const Node& node, const Unary& op) {
    ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    if (!op.input_exponents.empty()) {
      const ValueId real = Like(x, "__real");
      AddProduct(node, "__input_scales", x, op.input_exponents, 1, real);
      x = real;
    }
    const ValueId result = op.output_exponents.empty() ? y : Like(y, "__real");
    graph_.AddNode({node.name, Unary(op.op, op.alpha, op.beta), {x}, {result}});
    if (result != y) AddProduct(node, "__output_scales", result, op.output_exponents, -1, y);
  }

  ValueId Like(ValueId id, const std::string& suffix) {
    const Value& like = graph_.value(id);
    return graph_.AddValue(
        {graph_.UniqueName(like.name + suffix), like.dtype, like.shape, like.layout, {}, nullptr});
  }

  // y = x * 2^(sign * exponents) by channels.
  void AddProduct(const Node& node, const std::string& suffix, ValueId x,
                  const std::vector<int32_t>& exponents, int32_t sign, ValueId y) {
    std::vector<float> factors;
    factors.reserve(exponents.size());
    for (const int32_t exponent : exponents) factors.push_back(std::ldexp(1.0f, sign * exponent));
    Shape shape(graph_.value(x).shape.size(), 1);
    shape.back() = static_cast<int64_t>(factors.size());
    const ValueId constant = graph_.AddConstant<float>(graph_.UniqueName(node.name + suffix),
                                                       DType::kF32, shape, factors);
    graph_.AddNode({node.name + suffix, Binary{BinaryOp::kMul, {}}, {x, constant}, {y}});
  }

  Graph graph_;
};

}  // namespace

Graph SplitChannelScales(const Graph& graph) {
  const bool any = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                               [](const Node& node) { return ScaledFunction(node) != nullptr; });
  return any ? Splitter(graph).Run() : graph;
}

}  // namespace rshift
