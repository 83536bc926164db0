// (x - mean(x)) / sqrt(variance(x) + epsilon), times gamma, plus beta, over one dimension; the
// variance is mean((x - mean(x))^2) or mean(x^2) - mean(x)^2.
#include <numeric>

#include "graph/passes/patterns.h"

namespace rshift {
namespace {

const Node* BinaryProducer(const Matcher& m, ValueId value, BinaryOp op) {
  const auto* binary = m.links().ProducerAs<Binary>(value);
  return binary != nullptr && binary->op == op && !binary->clamp.active()
             ? m.links().Producer(value)
             : nullptr;
}

// The rows when `value` is x - mean(x).
std::optional<RowValue> ReadCentered(const Matcher& m, ValueId value) {
  const Node* sub = BinaryProducer(m, value, BinaryOp::kSub);
  if (sub == nullptr) return std::nullopt;
  const auto rows = ReadReduced(m, sub->inputs[1], ReduceOp::kMean);
  const bool centered = rows && rows->x == sub->inputs[0] && MeetsRows(m, sub->inputs[1], *rows);
  return centered ? rows : std::nullopt;
}

// mean((x - mean(x))^2), where the two factors may be computed one by one.
std::optional<RowValue> ReadMeanOfCenteredSquares(const Matcher& m, ValueId value) {
  const auto squares = ReadReduced(m, value, ReduceOp::kMean);
  if (!squares) return std::nullopt;
  const Product product = m.ReadProduct(squares->x);
  if (product.number != 1.0 || product.factors.size() != 2) return std::nullopt;
  const auto rows = ReadCentered(m, product.factors[0]);
  const bool same =
      rows && rows->axis == squares->axis && ReadCentered(m, product.factors[1]) == rows;
  return same ? rows : std::nullopt;
}

// max(mean(x^2) - mean(x)^2, 0), with or without the maximum: the variance as Flax computes it.
std::optional<RowValue> ReadMeanOfSquaresLessSquare(const Matcher& m, ValueId value) {
  value = BehindCopies(m, value);
  if (const Node* max = BinaryProducer(m, value, BinaryOp::kMax)) {
    const int zero = IsScalar(m.graph(), max->inputs[0], 0.0) ? 0 : 1;
    if (!IsScalar(m.graph(), max->inputs[zero], 0.0)) return std::nullopt;
    value = BehindCopies(m, max->inputs[1 - zero]);
  }
  const Node* sub = BinaryProducer(m, value, BinaryOp::kSub);
  if (sub == nullptr ||
      m.graph().value(sub->inputs[0]).shape != m.graph().value(sub->inputs[1]).shape)
    return std::nullopt;
  const auto squares = ReadReduced(m, sub->inputs[0], ReduceOp::kMean);
  const Product square = m.ReadProduct(BehindCopies(m, sub->inputs[1]));
  if (!squares || square.number != 1.0 || square.factors.size() != 2) return std::nullopt;
  const Product x = m.ReadProduct(squares->x);
  if (x.number != 1.0 || x.factors.size() != 2 || x.factors[0] != x.factors[1]) return std::nullopt;
  const RowValue rows{x.factors[0], squares->axis};
  for (const ValueId mean : square.factors) {
    if (ReadReduced(m, mean, ReduceOp::kMean) != rows) return std::nullopt;
  }
  return rows;
}

struct Normalized {
  RowValue rows;
  double epsilon = 0.0;
  std::vector<double> gamma;
};

// The rows and epsilon of variance + epsilon.
std::optional<Normalized> ReadVariance(const Matcher& m, ValueId value) {
  const std::optional<Sum> sum = m.ReadSum(BehindCopies(m, BeforeExpand(m, value)));
  if (!sum || sum->clamp.active() || sum->number < 0.0) return std::nullopt;
  const ValueId variance = BeforeExpand(m, sum->term);
  auto rows = ReadMeanOfCenteredSquares(m, variance);
  if (!rows) rows = ReadMeanOfSquaresLessSquare(m, variance);
  return rows ? std::optional(Normalized{*rows, sum->number, {}}) : std::nullopt;
}

// value = (variance + epsilon) ^ exponent, which is 1/2 or -1/2.
std::optional<Normalized> ReadPower(const Matcher& m, ValueId value, double exponent) {
  const ValueId copy = BehindCopies(m, BeforeExpand(m, value));
  std::optional<Normalized> found;
  if (const Node* pow = BinaryProducer(m, copy, BinaryOp::kPow)) {
    if (IsScalar(m.graph(), pow->inputs[1], exponent)) found = ReadVariance(m, pow->inputs[0]);
  } else if (exponent < 0.0) {
    const ValueId deviation = m.ArgumentOf(copy, UnaryOp::kReciprocal);
    if (deviation.valid()) found = ReadPower(m, deviation, -exponent);
  } else if (const ValueId variance = m.ArgumentOf(copy, UnaryOp::kSqrt); variance.valid()) {
    found = ReadVariance(m, variance);
  }
  return found && MeetsRows(m, value, found->rows) ? found : std::nullopt;
}

// centered * (variance + epsilon) ^ -1/2, times at most one constant along the axis.
std::optional<Normalized> ReadNormalizedProduct(const Matcher& m, ValueId value) {
  Product product = m.ReadProduct(value);
  std::optional<Normalized> found;
  for (const ValueId factor : product.factors) {
    if (!found && (found = ReadPower(m, factor, -0.5))) TakeFactor(&product, factor);
    if (found) break;
  }
  if (!found) return std::nullopt;
  const Shape& shape = m.graph().value(found->rows.x).shape;
  found->gamma.assign(static_cast<size_t>(shape[found->rows.axis]), product.number);
  bool centered = false;
  for (const ValueId factor : product.factors) {
    if (!centered && ReadCentered(m, factor) == found->rows) {
      centered = true;
      continue;
    }
    const auto numbers = ChannelConstant(m.graph(), factor, shape, found->rows.axis);
    if (!numbers) return std::nullopt;
    for (size_t i = 0; i < numbers->size(); ++i) found->gamma[i] *= (*numbers)[i];
  }
  return centered ? found : std::nullopt;
}

// centered / deviation, or centered * (1 / deviation).
std::optional<Normalized> ReadNormalized(const Matcher& m, ValueId value) {
  const Node* div = BinaryProducer(m, value, BinaryOp::kDiv);
  if (div == nullptr) return ReadNormalizedProduct(m, value);
  auto found = ReadPower(m, div->inputs[1], 0.5);
  if (!found || ReadCentered(m, div->inputs[0]) != found->rows) return std::nullopt;
  found->gamma.assign(m.graph().value(found->rows.x).shape[found->rows.axis], 1.0);
  return found;
}

// The one reader of `value` when it is `op` with a constant along `axis`; its numbers.
struct Tail {
  size_t node = 0;
  std::vector<double> numbers;
};

std::optional<Tail> ReadTail(const Matcher& m, ValueId value, BinaryOp op, int64_t axis) {
  if (!m.links().IsInternal(value)) return std::nullopt;
  const NodeId reader = m.links().Consumers(value)[0];
  const Node& node = m.graph().node(reader);
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != op || binary->clamp.active()) return std::nullopt;
  const Shape& shape = m.graph().value(value).shape;
  if (m.graph().value(node.outputs[0]).shape != shape) return std::nullopt;
  const ValueId other = node.inputs[node.inputs[0] == value ? 1 : 0];
  const auto numbers = ChannelConstant(m.graph(), other, shape, axis);
  if (!numbers) return std::nullopt;
  return Tail{static_cast<size_t>(reader.index()), *numbers};
}

// Dimension `axis` and the last one change places; its own inverse.
std::vector<int64_t> WithLast(size_t rank, int64_t axis) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  return perm;
}

Shape Permuted(const Shape& shape, const std::vector<int64_t>& perm) {
  Shape result;
  for (const int64_t d : perm) result.push_back(shape[static_cast<size_t>(d)]);
  return result;
}

// A new node at the end of the graph; Tidy() puts it in its place.
ValueId Append(Graph& graph, Links& links, const std::string& base, Op op,
               std::vector<ValueId> inputs, Shape shape) {
  Value value;
  value.name = links.TakeName(base);
  value.shape = std::move(shape);
  const std::string name = value.name;
  const ValueId output = graph.AddValue(std::move(value));
  graph.AddNode({name, std::move(op), std::move(inputs), {output}});
  links.Attach(NodeId(static_cast<int32_t>(graph.nodes().size() - 1)));
  return output;
}

// Makes node `index` the normalization. Over another dimension than the last it is that one between
// two transpositions.
void WriteLayerNorm(Graph& graph, Links& links, size_t index, const Normalized& found,
                    const std::vector<double>& beta) {
  const NodeId id(static_cast<int32_t>(index));
  const std::string name = graph.value(graph.nodes()[index].outputs[0]).name;
  const Shape shape = graph.value(found.rows.x).shape;
  const auto size = static_cast<int64_t>(found.gamma.size());
  const int64_t last = static_cast<int64_t>(shape.size()) - 1;
  const LayerNorm norm{last, static_cast<float>(found.epsilon)};
  links.Detach(id);
  std::vector<ValueId> inputs = {found.rows.x,
                                 AddFloats(graph, links, name + "__scale", {size}, found.gamma)};
  if (!beta.empty()) inputs.push_back(AddFloats(graph, links, name + "__bias", {size}, beta));
  if (found.rows.axis == last) {
    graph.nodes()[index].op = norm;
    graph.nodes()[index].inputs = inputs;
  } else {
    const std::vector<int64_t> perm = WithLast(shape.size(), found.rows.axis);
    const Shape moved = Permuted(shape, perm);
    inputs[0] = Append(graph, links, name + "__rows", Transpose{perm}, {inputs[0]}, moved);
    const ValueId rows = Append(graph, links, name + "__normalized", norm, inputs, moved);
    graph.nodes()[index].op = Transpose{perm};
    graph.nodes()[index].inputs = {rows};
  }
  links.Attach(id);
}

}  // namespace

bool RecognizeLayerNorm(Graph& graph, Matcher& m, size_t index) {
  if (!std::holds_alternative<Binary>(graph.nodes()[index].op)) return false;
  const ValueId start = graph.nodes()[index].outputs[0];
  std::optional<Normalized> found = ReadNormalized(m, start);
  if (!found || graph.value(start).shape != graph.value(found->rows.x).shape) return false;
  size_t last = index;
  std::vector<double> beta;
  if (const auto scale = ReadTail(m, start, BinaryOp::kMul, found->rows.axis)) {
    for (size_t i = 0; i < found->gamma.size(); ++i) found->gamma[i] *= scale->numbers[i];
    last = scale->node;
  }
  const ValueId scaled = graph.nodes()[last].outputs[0];
  if (const auto shift = ReadTail(m, scaled, BinaryOp::kAdd, found->rows.axis)) {
    beta = shift->numbers;
    last = shift->node;
  }
  WriteLayerNorm(graph, m.links(), last, *found, beta);
  return true;
}

}  // namespace rshift
