// Functions that exporters write as several operators: SiLU, Mish, HardSigmoid, HardSwish, GELU
// (exact and tanh), LayerNorm, Softmax. Products are multiplied out first, so the order and
// association of the factors and the side of the constants do not matter.
#include <cmath>
#include <numbers>

#include "graph/passes/passes.h"
#include "graph/passes/patterns.h"

namespace rshift {
namespace {

struct Match {
  Unary function;
  ValueId x;
};

// x when `value` is relu6(x + 3), with the clip separate or fused into the sum.
ValueId Relu6OfXPlus3(const Matcher& m, ValueId value) {
  std::optional<Sum> sum;
  Clamp clamp;
  if (const auto* clip = m.links().ProducerAs<Clip>(value)) {
    const ValueId inner = m.links().Producer(value)->inputs[0];
    if (!m.links().IsInternal(inner)) return ValueId();
    sum = m.ReadSum(inner);
    clamp = clip->clamp;
    if (sum && sum->clamp.active()) return ValueId();
  } else if ((sum = m.ReadSum(value))) {
    clamp = sum->clamp;
  }
  return sum && clamp == Clamp{0.0f, 6.0f} && Near(sum->number, 3.0) ? sum->term : ValueId();
}

// x when `value` is 1 + erf(x / sqrt(2)).
ValueId OnePlusErf(const Matcher& m, ValueId value) {
  const std::optional<Sum> sum = m.ReadSum(value);
  if (!sum || sum->clamp.active() || sum->number != 1.0) return ValueId();
  const ValueId argument = m.ArgumentOf(sum->term, UnaryOp::kErf);
  if (!argument.valid() || !m.links().IsInternal(sum->term)) return ValueId();
  const Product product = m.ReadProduct(argument);
  return product.factors.size() == 1 && Near(product.number, std::numbers::sqrt2 / 2)
             ? product.factors[0]
             : ValueId();
}

// Whether `value` is sqrt(2/pi) * (x + 0.044715 x^3), also as sqrt(2/pi) * x * (1 + 0.044715 x^2).
bool IsTanhGeluArgument(const Matcher& m, ValueId value, ValueId x) {
  Product outer = m.ReadProduct(value);
  if (!Near(outer.number, std::sqrt(2.0 / std::numbers::pi))) return false;
  const bool factored = TakeFactor(&outer, x);
  if (outer.factors.size() != 1) return false;
  const Node* node = m.links().Producer(outer.factors[0]);
  const auto* add = node == nullptr ? nullptr : std::get_if<Binary>(&node->op);
  if (add == nullptr || add->op != BinaryOp::kAdd || add->clamp.active()) return false;
  for (int side = 0; side < 2; ++side) {
    const ValueId first = node->inputs[side];
    if (factored ? !IsScalar(m.graph(), first, 1.0) : first != x) continue;
    Product power = m.ReadProduct(node->inputs[1 - side]);
    if (!Near(power.number, 0.044715)) continue;
    for (int i = 0; i < (factored ? 2 : 3); ++i) {
      if (!TakeFactor(&power, x)) return false;
    }
    return power.factors.empty();
  }
  return false;
}

bool IsOnePlusTanhGelu(const Matcher& m, ValueId value, ValueId x) {
  const std::optional<Sum> sum = m.ReadSum(value);
  if (!sum || sum->clamp.active() || sum->number != 1.0) return false;
  const ValueId argument = m.ArgumentOf(sum->term, UnaryOp::kTanh);
  return argument.valid() && IsTanhGeluArgument(m, argument, x);
}

bool IsStandardHardSigmoid(const Matcher& m, ValueId value) {
  const auto* unary = m.links().ProducerAs<Unary>(value);
  return unary != nullptr && unary->op == UnaryOp::kHardSigmoid && Near(unary->alpha, 1.0 / 6) &&
         Near(unary->beta, 0.5);
}

// number * x * gate, where gate is a function of x.
std::optional<Match> MatchGate(const Matcher& m, double number, ValueId x, ValueId gate) {
  if (!m.links().IsInternal(gate)) return std::nullopt;
  if (number == 1.0) {
    if (m.ArgumentOf(gate, UnaryOp::kSigmoid) == x) return Match{{UnaryOp::kSilu}, x};
    if (IsStandardHardSigmoid(m, gate) && m.links().Producer(gate)->inputs[0] == x) {
      return Match{{UnaryOp::kHardSwish}, x};
    }
    const ValueId softplus = m.ArgumentOf(gate, UnaryOp::kTanh);
    if (softplus.valid() && m.ArgumentOf(softplus, UnaryOp::kSoftplus) == x) {
      return Match{{UnaryOp::kMish}, x};
    }
  }
  if (Near(number, 1.0 / 6) && Relu6OfXPlus3(m, gate) == x) return Match{{UnaryOp::kHardSwish}, x};
  if (Near(number, 0.5)) {
    if (OnePlusErf(m, gate) == x) return Match{{UnaryOp::kGelu}, x};
    if (IsOnePlusTanhGelu(m, gate, x)) return Match{{UnaryOp::kGeluTanh}, x};
  }
  return std::nullopt;
}

std::optional<Match> MatchProduct(const Matcher& m, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || (binary->op != BinaryOp::kMul && binary->op != BinaryOp::kDiv))
    return std::nullopt;
  if (binary->clamp.active()) return std::nullopt;
  const Product product = m.ReadProduct(node.outputs[0]);
  const std::vector<ValueId>& f = product.factors;
  if (f.size() == 2) {
    const std::optional<Match> match = MatchGate(m, product.number, f[0], f[1]);
    return match ? match : MatchGate(m, product.number, f[1], f[0]);
  }
  if (f.size() == 1 && Near(product.number, 1.0 / 6) && m.links().IsInternal(f[0])) {
    const ValueId x = Relu6OfXPlus3(m, f[0]);
    if (x.valid()) return Match{{UnaryOp::kHardSigmoid, static_cast<float>(1.0 / 6), 0.5f}, x};
  }
  return std::nullopt;
}

}  // namespace

Graph RecognizePatterns(Graph graph) {
  Matcher products(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const std::optional<Match> match = MatchProduct(products, graph.nodes()[i]);
    if (!match) continue;
    Node& node = graph.nodes()[i];
    if (graph.value(match->x).shape != graph.value(node.outputs[0]).shape) continue;
    const NodeId id(static_cast<int32_t>(i));
    products.links().Detach(id);
    node.op = match->function;
    node.inputs = {match->x};
    products.links().Attach(id);
  }
  graph = Tidy(std::move(graph));
  Matcher norms(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!RecognizeLayerNorm(graph, norms, i)) RecognizeSoftmax(graph, norms, i);
  }
  return Tidy(std::move(graph));
}

}  // namespace rshift
