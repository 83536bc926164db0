#include "graph/passes/affine.h"

#include <algorithm>
#include <utility>

#include "graph/fold/origin.h"

namespace rshift {
namespace {

bool AllOne(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 1.0; });
}

bool IsFloatConstant(const Graph& graph, ValueId id) {
  return graph.value(id).is_constant() && graph.value(id).dtype == DType::kF32;
}

// The output channel of weight element `index`.
int64_t WeightChannel(const Node& node, const Shape& shape, int64_t index) {
  if (std::holds_alternative<Conv>(node.op)) return index / (shape[1] * shape[2] * shape[3]);
  if (const auto* conv = std::get_if<ConvTranspose>(&node.op)) {
    const int64_t taps = shape[2] * shape[3];  // w [IC, OC/groups, KH, KW]
    const int64_t group = index / (taps * shape[1]) / (shape[0] / conv->groups);
    return group * shape[1] + index / taps % shape[1];
  }
  return index % shape.back();  // MatMul: w [..., K, N]
}

// The dimension of the weights that output channels run along; -1: there is no single one.
int64_t WeightAxis(const Node& node, const Shape& shape) {
  if (std::holds_alternative<Conv>(node.op)) return 0;
  if (const auto* conv = std::get_if<ConvTranspose>(&node.op)) return conv->groups == 1 ? 1 : -1;
  return static_cast<int64_t>(shape.size()) - 1;
}

}  // namespace

int64_t OutputChannelAxis(const Graph& graph, const Node& node) {
  const int64_t rank = static_cast<int64_t>(graph.value(node.outputs[0]).shape.size());
  if (std::holds_alternative<Conv>(node.op) || std::holds_alternative<ConvTranspose>(node.op))
    return 1;
  if (!std::holds_alternative<MatMul>(node.op)) return -1;
  // A vector as second factor has no column dimension to scale.
  return graph.value(node.inputs[1]).shape.size() >= 2 ? rank - 1 : -1;
}

bool CanFold(const Graph& graph, const Node& node, const Affine& affine) {
  const Clamp* clamp = ProductClamp(node.op);
  if (clamp == nullptr || clamp->active()) return false;
  // A product of two activations is an integer one without a bias alone.
  if (std::holds_alternative<MatMul>(node.op) && !IsFloatConstant(graph, node.inputs[1]))
    return false;
  if (!AllOne(affine.scale) && !IsFloatConstant(graph, node.inputs[1])) return false;
  return node.inputs.size() < 3 || !node.inputs[2].valid() ||
         IsFloatConstant(graph, node.inputs[2]);
}

// `output` is a copy: callers name a value of `graph`, whose values move when one is added.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void Fold(Graph& graph, Links& links, Node& node, const Affine& affine, std::string output) {
  const size_t channels = affine.scale.size();
  std::vector<double> bias(channels, 0.0);
  if (node.inputs.size() >= 3 && node.inputs[2].valid()) {
    const auto old = graph.value(node.inputs[2]).constant->As<float>();
    // A bias of one element serves all channels.
    for (size_t c = 0; c < channels; ++c) bias[c] = old[old.size() == 1 ? 0 : c];
  }
  for (size_t c = 0; c < channels; ++c) bias[c] = bias[c] * affine.scale[c] + affine.shift[c];
  node.inputs.resize(3);
  node.inputs[2] =
      AddFloats(graph, links, output + "__bias", {static_cast<int64_t>(channels)}, bias);
  if (AllOne(affine.scale)) return;

  const Shape shape = graph.value(node.inputs[1]).shape;
  const int64_t axis = WeightAxis(node, shape);
  auto origin = axis < 0 ? nullptr : ScaleOrigin(graph.value(node.inputs[1]), axis, affine.scale);
  const auto old = graph.value(node.inputs[1]).constant->As<float>();
  std::vector<double> weights(old.begin(), old.end());
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] *= affine.scale[WeightChannel(node, shape, static_cast<int64_t>(i))];
  }
  node.inputs[1] = AddFloats(graph, links, output + "__weight", shape, weights);
  if (origin == nullptr) return;
  if (!origin->tuned) graph.value(node.inputs[1]).constant = RealsOf(*origin, shape);
  graph.value(node.inputs[1]).origin = std::move(origin);
}

std::optional<AffineStep> ReadAffineStep(const Graph& graph, const Node& node, int64_t axis) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || axis < 0) return std::nullopt;
  const Value& out = graph.value(node.outputs[0]);
  if (out.dtype != DType::kF32 || axis >= static_cast<int64_t>(out.shape.size()))
    return std::nullopt;
  if (out.ranges != nullptr) return std::nullopt;  // SplitOptions::keep_ranges
  for (int side = 0; side < 2; ++side) {
    const ValueId x = node.inputs[1 - side];
    if (graph.value(x).is_constant() || graph.value(x).shape != out.shape) continue;
    const auto numbers = ChannelConstant(graph, node.inputs[side], out.shape, axis);
    if (!numbers) continue;
    AffineStep step{
        x, {std::vector<double>(numbers->size(), 1.0), std::vector<double>(numbers->size(), 0.0)}};
    for (size_t c = 0; c < numbers->size(); ++c) {
      const double k = (*numbers)[c];
      double& scale = step.affine.scale[c];
      double& shift = step.affine.shift[c];
      switch (binary->op) {
        case BinaryOp::kAdd:
          shift = k;
          break;
        case BinaryOp::kSub:
          shift = side == 1 ? -k : k;
          scale = side == 1 ? 1.0 : -1.0;
          break;
        case BinaryOp::kMul:
          scale = k;
          break;
        case BinaryOp::kDiv:
          if (side == 0 || k == 0.0) return std::nullopt;
          scale = 1.0 / k;
          break;
        default:  // no affine function of x
          return std::nullopt;
      }
    }
    return step;
  }
  return std::nullopt;
}

Affine Compose(const Affine& first, const Affine& second) {
  Affine both = first;
  for (size_t c = 0; c < both.scale.size(); ++c) {
    both.scale[c] = first.scale[c] * second.scale[c];
    both.shift[c] = first.shift[c] * second.scale[c] + second.shift[c];
  }
  return both;
}

}  // namespace rshift
