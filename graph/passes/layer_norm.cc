// (x - mean(x)) / sqrt(variance(x) + epsilon), times gamma, plus beta, over one dimension; the
// variance is mean((x - mean(x))^2) or mean(x^2) - mean(x)^2. Also multiplied out, as TensorFlow
// and litert-torch write it: x * scale + (beta - mean(x) * scale), where the scale is gamma over
// the deviation. By the root of mean(x^2) alone: RMSNorm and vectors of length 1.
#include <cmath>
#include <limits>
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

// The rows when `mean` is the mean of each row of x.
std::optional<RowValue> RowsOfMean(const Matcher& m, ValueId x, ValueId mean) {
  const auto rows = ReadReduced(m, mean, ReduceOp::kMean);
  return rows && rows->x == x && MeetsRows(m, mean, *rows) ? rows : std::nullopt;
}

// The rows when `value` is x - mean(x).
std::optional<RowValue> ReadCentered(const Matcher& m, ValueId value) {
  const Node* sub = BinaryProducer(m, value, BinaryOp::kSub);
  return sub == nullptr ? std::nullopt : RowsOfMean(m, sub->inputs[0], sub->inputs[1]);
}

// The rows when `value` is (x - mean(x))^2, as one operator or as a product of two factors, which
// may be computed one by one.
std::optional<RowValue> ReadCenteredSquares(const Matcher& m, ValueId value) {
  if (const Node* node = BinaryProducer(m, value, BinaryOp::kSquaredDifference)) {
    const auto rows = RowsOfMean(m, node->inputs[0], node->inputs[1]);
    return rows ? rows : RowsOfMean(m, node->inputs[1], node->inputs[0]);
  }
  const Product product = m.ReadProduct(value);
  if (product.number != 1.0 || product.factors.size() != 2) return std::nullopt;
  const auto rows = ReadCentered(m, product.factors[0]);
  return rows && ReadCentered(m, product.factors[1]) == rows ? rows : std::nullopt;
}

// mean((x - mean(x))^2).
std::optional<RowValue> ReadMeanOfCenteredSquares(const Matcher& m, ValueId value) {
  const auto squares = ReadReduced(m, value, ReduceOp::kMean);
  const auto rows = squares ? ReadCenteredSquares(m, squares->x) : std::nullopt;
  return rows && rows->axis == squares->axis ? rows : std::nullopt;
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
  bool rms = false;                      // less no mean
  std::vector<double> gamma, beta = {};  // beta: empty for none
};

// x of a square: two equal factors.
ValueId Squared(const Matcher& m, ValueId value) {
  const Product product = m.ReadProduct(value);
  const bool square = product.number == 1.0 && product.factors.size() == 2 &&
                      product.factors[0] == product.factors[1];
  return square ? product.factors[0] : ValueId();
}

// The rows of x when `value` is op(x^2).
std::optional<RowValue> ReadReducedSquares(const Matcher& m, ValueId value, ReduceOp op) {
  const auto squares = ReadReduced(m, value, op);
  const ValueId x = squares ? Squared(m, squares->x) : ValueId();
  return x.valid() ? std::optional(RowValue{x, squares->axis}) : std::nullopt;
}

// The rows and epsilon of variance + epsilon.
std::optional<Normalized> ReadVariance(const Matcher& m, ValueId value) {
  const std::optional<Sum> sum = m.ReadSum(BehindCopies(m, BeforeExpand(m, value)));
  if (!sum || sum->clamp.active() || sum->number < 0.0) return std::nullopt;
  const ValueId variance = BeforeExpand(m, sum->term);
  auto rows = ReadMeanOfCenteredSquares(m, variance);
  if (!rows) rows = ReadMeanOfSquaresLessSquare(m, variance);
  const bool rms = !rows;
  if (rms) rows = ReadReducedSquares(m, variance, ReduceOp::kMean);
  return rows ? std::optional(Normalized{*rows, sum->number, rms, {}}) : std::nullopt;
}

// value = (variance + epsilon) ^ exponent, which is 1/2 or -1/2.
std::optional<Normalized> ReadPower(const Matcher& m, ValueId value, double exponent) {
  const ValueId copy = BehindCopies(m, BeforeExpand(m, value));
  std::optional<Normalized> found;
  if (const Node* pow = BinaryProducer(m, copy, BinaryOp::kPow)) {
    if (IsScalar(m.graph(), pow->inputs[1], exponent)) found = ReadVariance(m, pow->inputs[0]);
  } else if (exponent < 0.0) {
    const ValueId root = m.ArgumentOf(copy, UnaryOp::kRsqrt);
    if (root.valid()) found = ReadVariance(m, root);
    ValueId deviation = m.ArgumentOf(copy, UnaryOp::kReciprocal);
    const Node* quotient = BinaryProducer(m, copy, BinaryOp::kDiv);  // torch's scripts: 1 / sqrt
    if (quotient != nullptr && IsScalar(m.graph(), quotient->inputs[0], 1.0))
      deviation = quotient->inputs[1];
    if (!found && deviation.valid()) found = ReadPower(m, deviation, -exponent);
  } else if (const ValueId variance = m.ArgumentOf(copy, UnaryOp::kSqrt); variance.valid()) {
    found = ReadVariance(m, variance);
  }
  return found && MeetsRows(m, value, found->rows) ? found : std::nullopt;
}

// Whether `value` is what is divided: x less its mean, or x itself.
bool IsNumerator(const Matcher& m, ValueId value, const Normalized& by) {
  return by.rms ? value == by.rows.x : ReadCentered(m, value) == by.rows;
}

// A product with (variance + epsilon) ^ -1/2: what else are its factors, constants along the axis
// left out, which are in gamma.
struct Scaled {
  Normalized by;
  std::vector<ValueId> factors;
};

std::optional<Scaled> ReadScaled(const Matcher& m, ValueId value) {
  Product product = m.ReadProduct(value);
  std::optional<Normalized> by;
  for (const ValueId factor : product.factors) {
    if ((by = ReadPower(m, factor, -0.5))) {
      TakeFactor(&product, factor);
      break;
    }
  }
  if (!by) return std::nullopt;
  const Shape& shape = m.graph().value(by->rows.x).shape;
  by->gamma.assign(static_cast<size_t>(shape[by->rows.axis]), product.number);
  Scaled scaled{*std::move(by), {}};
  for (const ValueId factor : product.factors) {
    const auto numbers = ChannelConstant(m.graph(), factor, shape, scaled.by.rows.axis);
    if (!numbers) scaled.factors.push_back(factor);
    for (size_t i = 0; numbers && i < numbers->size(); ++i) scaled.by.gamma[i] *= (*numbers)[i];
  }
  return scaled;
}

// centered * (variance + epsilon) ^ -1/2, times constants along the axis.
std::optional<Normalized> ReadNormalizedProduct(const Matcher& m, ValueId value) {
  auto scaled = ReadScaled(m, value);
  const bool centered =
      scaled && scaled->factors.size() == 1 && IsNumerator(m, scaled->factors[0], scaled->by);
  return centered ? std::optional(std::move(scaled->by)) : std::nullopt;
}

int64_t CountOf(const Matcher& m, ValueId value) {
  return NumElements(m.graph().value(value).shape);
}

// Whether the values hold the same elements, behind reshapes and Expands.
bool AreCopies(const Matcher& m, ValueId a, ValueId b) {
  const auto origin = [&](ValueId v) { return BehindCopies(m, BeforeExpand(m, v)); };
  return origin(a) == origin(b);
}

// beta, when `value` is beta - mean(x) * scale: for each element of x, or for each row.
std::optional<std::vector<double>> ReadShift(const Matcher& m, ValueId value, ValueId scale,
                                             const RowValue& rows) {
  const Shape& shape = m.graph().value(rows.x).shape;
  const bool by_rows = m.graph().value(value).shape != shape;
  if (by_rows && !MeetsRows(m, value, rows)) return std::nullopt;
  const ValueId copy = by_rows ? BehindCopies(m, BeforeExpand(m, value)) : value;
  const Node* sub = BinaryProducer(m, copy, BinaryOp::kSub);
  const Node* product =
      sub == nullptr ? nullptr : BinaryProducer(m, sub->inputs[1], BinaryOp::kMul);
  if (product == nullptr) return std::nullopt;
  const int side = AreCopies(m, product->inputs[0], scale) ? 0 : 1;
  const ValueId factor = product->inputs[side], mean = product->inputs[1 - side];
  if (!AreCopies(m, factor, scale) || ReadReduced(m, mean, ReduceOp::kMean) != rows)
    return std::nullopt;
  // Rows may be numbered by any shape, but all by the same one.
  const bool fits =
      by_rows ? CountOf(m, copy) == CountOf(m, mean) && CountOf(m, copy) == CountOf(m, factor)
              : MeetsRows(m, mean, rows) && (factor == scale || MeetsRows(m, factor, rows));
  if (!fits) return std::nullopt;
  if (const auto number = ScalarConstant(m.graph(), sub->inputs[0]))
    return std::vector<double>(static_cast<size_t>(shape[rows.axis]), static_cast<double>(*number));
  return by_rows ? std::nullopt : ChannelConstant(m.graph(), sub->inputs[0], shape, rows.axis);
}

// x * scale + (beta - mean(x) * scale).
std::optional<Normalized> ReadMultipliedOut(const Matcher& m, ValueId value) {
  const Node* add = BinaryProducer(m, value, BinaryOp::kAdd);
  if (add == nullptr) return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    const Node* product = BinaryProducer(m, add->inputs[side], BinaryOp::kMul);
    if (product == nullptr) continue;
    for (int which = 0; which < 2; ++which) {
      const ValueId scale = product->inputs[which];
      auto scaled = ReadScaled(m, scale);
      const RowValue rows{product->inputs[1 - which], scaled ? scaled->by.rows.axis : 0};
      if (!scaled || scaled->by.rms || !scaled->factors.empty() || scaled->by.rows != rows)
        continue;
      auto beta = ReadShift(m, add->inputs[1 - side], scale, rows);
      if (!beta) continue;
      scaled->by.beta = *std::move(beta);
      return std::move(scaled->by);
    }
  }
  return std::nullopt;
}

// A row of this length is 0 but for rounding.
constexpr double kNoLength = 1e-5;

// x / max(sqrt(sum(x^2)), least), the least above 0: as a mean of squares with the least's square
// as epsilon, which makes a difference for rows near it alone. So it is kNoLength at most.
std::optional<Normalized> ReadUnitVector(const Matcher& m, const Node& div) {
  ValueId norm = BehindCopies(m, BeforeExpand(m, div.inputs[1]));
  double least = 0.0;
  if (const auto* clip = m.links().ProducerAs<Clip>(norm); clip != nullptr) {
    if (clip->clamp.hi != std::numeric_limits<float>::infinity()) return std::nullopt;
    least = clip->clamp.lo;
    norm = m.links().Producer(norm)->inputs[0];
  } else if (const Node* max = BinaryProducer(m, norm, BinaryOp::kMax)) {
    const int side = ScalarConstant(m.graph(), max->inputs[0]) ? 0 : 1;
    const auto number = ScalarConstant(m.graph(), max->inputs[side]);
    if (!number) return std::nullopt;
    least = *number;
    norm = max->inputs[1 - side];
  }
  auto rows = ReadReduced(m, norm, ReduceOp::kL2);
  if (const ValueId sum = m.ArgumentOf(BehindCopies(m, norm), UnaryOp::kSqrt); !rows && sum.valid())
    rows = ReadReducedSquares(m, sum, ReduceOp::kSum);
  if (!rows || rows->x != div.inputs[0] || !MeetsRows(m, div.inputs[1], *rows) || !(least > 0.0) ||
      least > kNoLength)
    return std::nullopt;
  const auto n = static_cast<double>(m.graph().value(rows->x).shape[rows->axis]);
  constexpr double kLeast = 1e-15;  // its square over n is a normal float
  const double floor = std::max(least, kLeast);
  Normalized found{*rows, floor * floor / n, /*rms=*/true, {}};
  found.gamma.assign(static_cast<size_t>(n), 1.0 / std::sqrt(n));
  return found;
}

// centered / deviation, centered * (1 / deviation), or that multiplied out.
std::optional<Normalized> ReadNormalized(const Matcher& m, ValueId value) {
  const Node* div = BinaryProducer(m, value, BinaryOp::kDiv);
  if (div == nullptr) {
    auto found = ReadNormalizedProduct(m, value);
    return found ? found : ReadMultipliedOut(m, value);
  }
  auto found = ReadPower(m, div->inputs[1], 0.5);
  if (!found) return ReadUnitVector(m, *div);
  if (!IsNumerator(m, div->inputs[0], *found)) return std::nullopt;
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
  const LayerNorm norm{last, static_cast<float>(found.epsilon), found.rms};
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
  std::vector<double> beta = found->beta;
  if (const auto scale = ReadTail(m, start, BinaryOp::kMul, found->rows.axis)) {
    for (size_t i = 0; i < found->gamma.size(); ++i) found->gamma[i] *= scale->numbers[i];
    for (size_t i = 0; i < beta.size(); ++i) beta[i] *= scale->numbers[i];
    last = scale->node;
  }
  const ValueId scaled = graph.nodes()[last].outputs[0];
  if (const auto shift = ReadTail(m, scaled, BinaryOp::kAdd, found->rows.axis)) {
    beta.resize(shift->numbers.size());
    for (size_t i = 0; i < beta.size(); ++i) beta[i] += shift->numbers[i];
    last = shift->node;
  }
  WriteLayerNorm(graph, m.links(), last, *found, beta);
  return true;
}

}  // namespace rshift
