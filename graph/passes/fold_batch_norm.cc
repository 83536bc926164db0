// BatchNorm at inference is y = s * x + (bias - s * mean) with s = scale / sqrt(variance +
// epsilon).
#include <cmath>

#include "base/error.h"
#include "graph/passes/affine.h"
#include "graph/passes/passes.h"
#include "graph/passes/util.h"

namespace rshift {
namespace {

Affine ToAffine(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  RSHIFT_REQUIRE(shape.size() >= 2, ErrorCode::kInvalidInput, node.name,
                 ": BatchNormalization of '", graph.value(node.inputs[0]).name, "' of ",
                 ToString(shape),
                 ", expected at least 2 dimensions [N, C, ...]; check the model's exporter");
  std::vector<std::vector<double>> parameters;
  for (size_t i = 1; i < 5; ++i) {
    const Value& value = graph.value(node.inputs[i]);
    RSHIFT_REQUIRE(
        value.is_constant() && value.dtype == DType::kF32 && NumElements(value.shape) == shape[1],
        ErrorCode::kUnsupported, node.name, ": BatchNormalization parameter '", value.name,
        "', expected a constant of ", shape[1], " floats, found ",
        value.is_constant() ? "a constant of " : "a computed tensor of ", ToString(value.shape),
        " ", Name(value.dtype), "; export the model in inference mode");
    const auto numbers = value.constant->As<float>();
    parameters.emplace_back(numbers.begin(), numbers.end());
  }
  const double epsilon = std::get<BatchNorm>(node.op).epsilon;
  Affine affine;
  for (int64_t c = 0; c < shape[1]; ++c) {
    const double s = parameters[0][c] / std::sqrt(parameters[3][c] + epsilon);
    affine.scale.push_back(s);
    affine.shift.push_back(parameters[1][c] - s * parameters[2][c]);
  }
  return affine;
}

struct Insertion {
  size_t behind;
  Node node;
};

// Mul writes a new value, Add the one that BatchNorm wrote. Gives the Add.
Insertion ReplaceByMulAdd(Graph& graph, Links& links, size_t index, const Affine& affine) {
  const Node old = graph.nodes()[index];
  Value scaled = graph.value(old.outputs[0]);
  const std::string name = scaled.name;
  scaled.name = links.TakeName(name + "__scaled");
  Shape shape(scaled.shape.size() - 1, 1);  // [C, 1, 1] behind the batch dimension
  shape[0] = scaled.shape[1];
  const ValueId middle = graph.AddValue(std::move(scaled));
  const ValueId scale = AddFloats(graph, links, name + "__scale", shape, affine.scale);
  const ValueId shift = AddFloats(graph, links, name + "__shift", shape, affine.shift);
  graph.nodes()[index] = {old.name, Binary{BinaryOp::kMul, {}}, {old.inputs[0], scale}, {middle}};
  return {index, {old.name + "__shift", Binary{BinaryOp::kAdd, {}}, {middle, shift}, old.outputs}};
}

// `insertions`: ascending.
void Insert(Graph& graph, std::vector<Insertion> insertions) {
  if (insertions.empty()) return;
  std::vector<Node> nodes;
  size_t next = 0;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    nodes.push_back(std::move(graph.nodes()[n]));
    if (next < insertions.size() && insertions[next].behind == n)
      nodes.push_back(std::move(insertions[next++].node));
  }
  graph.nodes() = std::move(nodes);
}

}  // namespace

Graph FoldBatchNorm(Graph graph) {
  Links links(graph);
  std::vector<Insertion> insertions;  // at the end: positions stay what they are
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!std::holds_alternative<BatchNorm>(graph.nodes()[i].op)) continue;
    const Affine affine = ToAffine(graph, graph.nodes()[i]);
    const ValueId x = graph.nodes()[i].inputs[0];
    const NodeId producer = links.ProducerId(x);
    if (producer.valid() && links.IsInternal(x) &&
        OutputChannelAxis(graph, graph.node(producer)) == 1 &&
        CanFold(graph, graph.node(producer), affine)) {
      const std::vector<ValueId> outputs = graph.nodes()[i].outputs;
      const std::string name = graph.value(outputs[0]).name;
      links.Detach(producer);
      links.Detach(NodeId(static_cast<int32_t>(i)));
      Fold(graph, links, graph.nodes()[producer.index()], affine, name);
      graph.nodes()[producer.index()].outputs = outputs;
      Disconnect(graph.nodes()[i]);
      links.Attach(producer);
    } else {
      links.Detach(NodeId(static_cast<int32_t>(i)));
      insertions.push_back(ReplaceByMulAdd(graph, links, i, affine));
      links.Attach(NodeId(static_cast<int32_t>(i)));
    }
  }
  Insert(graph, std::move(insertions));
  return Tidy(std::move(graph));
}

}  // namespace rshift
