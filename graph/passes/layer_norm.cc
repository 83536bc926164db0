// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), times gamma, plus beta: over the last
// dimension.
#include "graph/passes/patterns.h"

namespace rshift {
namespace {

// x when `value` is the mean of x over its last dimension, kept as 1.
ValueId MeanOfLast(const Matcher& m, ValueId value) {
  const auto* reduce = m.links().ProducerAs<Reduce>(value);
  if (reduce == nullptr || reduce->op != ReduceOp::kMean) return ValueId();
  const ValueId x = m.links().Producer(value)->inputs[0];
  const int64_t rank = static_cast<int64_t>(m.graph().value(x).shape.size());
  const bool last = reduce->axes == std::vector<int64_t>{rank - 1};
  const bool kept = m.graph().value(value).shape.size() == m.graph().value(x).shape.size();
  return last && kept ? x : ValueId();
}

const Node* BinaryProducer(const Matcher& m, ValueId value, BinaryOp op) {
  const auto* binary = m.links().ProducerAs<Binary>(value);
  return binary != nullptr && binary->op == op && !binary->clamp.active()
             ? m.links().Producer(value)
             : nullptr;
}

// x when `value` is x - mean(x).
ValueId Centered(const Matcher& m, ValueId value) {
  const Node* sub = BinaryProducer(m, value, BinaryOp::kSub);
  if (sub == nullptr) return ValueId();
  const ValueId x = MeanOfLast(m, sub->inputs[1]);
  return x.valid() && x == sub->inputs[0] ? x : ValueId();
}

struct Normalized {
  ValueId x;
  double epsilon = 0.0;
};

// `deviation` = sqrt(mean(centered^2) + epsilon)
std::optional<Normalized> ReadDeviation(const Matcher& m, ValueId deviation) {
  ValueId variance = m.ArgumentOf(deviation, UnaryOp::kSqrt);
  if (!variance.valid()) {
    const Node* pow = BinaryProducer(m, deviation, BinaryOp::kPow);
    if (pow == nullptr || !IsScalar(m.graph(), pow->inputs[1], 0.5)) return std::nullopt;
    variance = pow->inputs[0];
  }
  const std::optional<Sum> sum = m.ReadSum(variance);
  if (!sum || sum->clamp.active() || sum->number < 0.0) return std::nullopt;
  const ValueId squares = MeanOfLast(m, sum->term);
  if (!squares.valid()) return std::nullopt;
  const Product product = m.ReadProduct(squares);
  if (product.number != 1.0 || product.factors.size() != 2) return std::nullopt;
  const ValueId x = Centered(m, product.factors[0]);
  if (!x.valid() || Centered(m, product.factors[1]) != x) return std::nullopt;
  return Normalized{x, sum->number};
}

// centered / deviation, or centered * (1 / deviation).
std::optional<Normalized> ReadNormalized(const Matcher& m, ValueId value) {
  if (const Node* div = BinaryProducer(m, value, BinaryOp::kDiv)) {
    const std::optional<Normalized> found = ReadDeviation(m, div->inputs[1]);
    if (found && Centered(m, div->inputs[0]) == found->x) return found;
  }
  const Node* mul = BinaryProducer(m, value, BinaryOp::kMul);
  for (int side = 0; mul != nullptr && side < 2; ++side) {
    const ValueId deviation = m.ArgumentOf(mul->inputs[side], UnaryOp::kReciprocal);
    const std::optional<Normalized> found =
        deviation.valid() ? ReadDeviation(m, deviation) : std::nullopt;
    if (found && Centered(m, mul->inputs[1 - side]) == found->x) return found;
  }
  return std::nullopt;
}

// The one reader of `value` when it is `op` with a constant along the last dimension; its numbers.
struct Tail {
  size_t node = 0;
  std::vector<double> numbers;
};

std::optional<Tail> ReadTail(const Matcher& m, ValueId value, BinaryOp op) {
  if (!m.links().IsInternal(value)) return std::nullopt;
  const NodeId reader = m.links().Consumers(value)[0];
  const Node& node = m.graph().node(reader);
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != op || binary->clamp.active()) return std::nullopt;
  const Shape& shape = m.graph().value(value).shape;
  if (m.graph().value(node.outputs[0]).shape != shape) return std::nullopt;
  const ValueId other = node.inputs[node.inputs[0] == value ? 1 : 0];
  const auto numbers =
      ChannelConstant(m.graph(), other, shape, static_cast<int64_t>(shape.size()) - 1);
  if (!numbers) return std::nullopt;
  return Tail{static_cast<size_t>(reader.index()), *numbers};
}

}  // namespace

bool RecognizeLayerNorm(Graph& graph, Matcher& m, size_t index) {
  if (!std::holds_alternative<Binary>(graph.nodes()[index].op)) return false;
  const ValueId start = graph.nodes()[index].outputs[0];
  const std::optional<Normalized> found = ReadNormalized(m, start);
  if (!found) return false;
  const int64_t size = graph.value(start).shape.back();
  size_t last = index;
  std::vector<double> gamma(size, 1.0);
  std::vector<double> beta;
  if (const auto scale = ReadTail(m, start, BinaryOp::kMul)) {
    gamma = scale->numbers;
    last = scale->node;
  }
  if (const auto shift = ReadTail(m, graph.nodes()[last].outputs[0], BinaryOp::kAdd)) {
    beta = shift->numbers;
    last = shift->node;
  }
  const std::string name = graph.value(graph.nodes()[last].outputs[0]).name;
  const int64_t rank = static_cast<int64_t>(graph.value(start).shape.size());
  Node& node = graph.nodes()[last];
  m.links().Detach(NodeId(static_cast<int32_t>(last)));
  node.op = LayerNorm{rank - 1, static_cast<float>(found->epsilon)};
  node.inputs = {found->x, AddFloats(graph, m.links(), name + "__scale", {size}, gamma)};
  if (!beta.empty())
    node.inputs.push_back(AddFloats(graph, m.links(), name + "__bias", {size}, beta));
  m.links().Attach(NodeId(static_cast<int32_t>(last)));
  return true;
}

}  // namespace rshift
