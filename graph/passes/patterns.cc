#include "graph/passes/patterns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rshift {
namespace {

constexpr int kMaxDepth = 6;  // the deepest pattern has 4 products in a row

// x of max(-inf, x); else nothing.
ValueId AtLeastMinusInfinity(const Matcher& m, ValueId value) {
  const auto* max = m.links().ProducerAs<Binary>(value);
  if (max == nullptr || max->op != BinaryOp::kMax || max->clamp.active()) return ValueId();
  const Node* node = m.links().Producer(value);
  for (int side = 0; side < 2; ++side) {
    const ValueId x = node->inputs[1 - side];
    if (ScalarConstant(m.graph(), node->inputs[side]) == -std::numeric_limits<float>::infinity() &&
        m.graph().value(x).shape == m.graph().value(value).shape)
      return x;
  }
  return ValueId();
}

}  // namespace

bool Near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::abs(b); }

bool TakeFactor(Product* product, ValueId value) {
  const auto found = std::find(product->factors.begin(), product->factors.end(), value);
  if (found == product->factors.end()) return false;
  product->factors.erase(found);
  return true;
}

Product Matcher::ReadProduct(ValueId value) const {
  Product product;
  const Node* node = links_.Producer(value);
  if (node == nullptr || !MultiplyNode(*node, kMaxDepth, &product))
    product.factors.push_back(value);
  return product;
}

void Matcher::Multiply(ValueId value, int depth, Product* product) const {
  if (const std::optional<float> number = ScalarConstant(graph_, value)) {
    product->number *= *number;
    return;
  }
  const Node* node = links_.Producer(value);
  if (depth > 0 && node != nullptr && links_.IsInternal(value) &&
      MultiplyNode(*node, depth, product))
    return;
  product->factors.push_back(value);
}

bool Matcher::MultiplyNode(const Node& node, int depth, Product* product) const {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->clamp.active()) {
    const auto* unary = std::get_if<Unary>(&node.op);
    if (unary == nullptr || unary->op != UnaryOp::kSquare) return false;
    product->factors.insert(product->factors.end(), 2, node.inputs[0]);
    return true;
  }
  const std::optional<float> second = ScalarConstant(graph_, node.inputs[1]);
  switch (binary->op) {
    case BinaryOp::kMul:
      Multiply(node.inputs[0], depth - 1, product);
      Multiply(node.inputs[1], depth - 1, product);
      return true;
    case BinaryOp::kDiv:
      if (!second || *second == 0.0f) return false;
      Multiply(node.inputs[0], depth - 1, product);
      product->number /= *second;
      return true;
    case BinaryOp::kPow:
      if (!second || (*second != 2.0f && *second != 3.0f)) return false;
      product->factors.insert(product->factors.end(), static_cast<size_t>(*second), node.inputs[0]);
      return true;
    default:  // no product
      return false;
  }
}

std::optional<Sum> Matcher::ReadSum(ValueId value) const {
  const Node* node = links_.Producer(value);
  const auto* binary = node == nullptr ? nullptr : std::get_if<Binary>(&node->op);
  if (binary == nullptr || binary->op != BinaryOp::kAdd) return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    const std::optional<float> number = ScalarConstant(graph_, node->inputs[side]);
    if (number) return Sum{node->inputs[1 - side], *number, binary->clamp};
  }
  return std::nullopt;
}

ValueId Matcher::ArgumentOf(ValueId value, UnaryOp function) const {
  const auto* unary = links_.ProducerAs<Unary>(value);
  if (unary == nullptr || unary->op != function) return ValueId();
  return links_.Producer(value)->inputs[0];
}

ValueId BehindCopies(const Matcher& m, ValueId value) {
  for (;;) {
    const ValueId x = m.links().ProducerAs<Reshape>(value) != nullptr
                          ? m.links().Producer(value)->inputs[0]
                          : AtLeastMinusInfinity(m, value);
    if (!x.valid()) return value;
    value = x;
  }
}

ValueId BeforeExpand(const Matcher& m, ValueId value) {
  return m.links().ProducerAs<Expand>(value) != nullptr ? m.links().Producer(value)->inputs[0]
                                                        : value;
}

bool MeetsRows(const Matcher& m, ValueId value, const RowValue& rows) {
  Shape kept = m.graph().value(rows.x).shape;
  kept[static_cast<size_t>(rows.axis)] = 1;
  Shape shape = m.graph().value(BeforeExpand(m, value)).shape;
  if (shape.size() < kept.size()) shape.insert(shape.begin(), kept.size() - shape.size(), 1);
  return shape == kept;
}

std::optional<RowValue> ReadReduced(const Matcher& m, ValueId value, ReduceOp op) {
  value = BehindCopies(m, BeforeExpand(m, value));
  const auto* reduce = m.links().ProducerAs<Reduce>(value);
  if (reduce == nullptr && op == ReduceOp::kMean) {
    const Product product = m.ReadProduct(value);
    const auto sum = product.factors.size() == 1
                         ? ReadReduced(m, product.factors[0], ReduceOp::kSum)
                         : std::nullopt;
    if (!sum) return std::nullopt;
    const auto size = static_cast<double>(m.graph().value(sum->x).shape[sum->axis]);
    return Near(product.number, 1.0 / size) ? sum : std::nullopt;
  }
  if (reduce == nullptr || reduce->op != op) return std::nullopt;
  const ValueId x = m.links().Producer(value)->inputs[0];
  std::vector<int64_t> axes(reduce->axes.begin(), reduce->axes.end());
  if (axes.size() > 1)  // litert-torch reduces the batch of one, too
    std::erase_if(axes, [&](int64_t axis) { return m.graph().value(x).shape[axis] == 1; });
  return axes.size() == 1 ? std::optional(RowValue{x, axes[0]}) : std::nullopt;
}

}  // namespace rshift
