#include "quantize/ops/recurrent_gates.h"

#include <algorithm>

#include "quantize/ops/ops.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

constexpr int64_t kMostInputs = 33025;  // sums of so many products fit int32

// The rows of a slice along leading dimensions, where they lie behind one another.
std::optional<int64_t> FirstRow(const Slice& op, const Shape& x, const Shape& y, int64_t row) {
  int64_t stride = 1, first = 0;
  bool divided = false;
  for (size_t d = x.size() - 1; d-- > 0;) {
    if (divided && y[d] != 1) return {};
    first += op.starts[d] * stride;
    stride *= x[d];
    divided = divided || x[d] != y[d];
  }
  return first + row;
}

}  // namespace

int64_t RowsOf(const Shape& shape) { return NumElements(Shape(shape.begin(), shape.end() - 1)); }

GateReader::GateReader(const Graph& graph, const QuantizationPlan& plan,
                       const QuantizeConfig& config)
    : graph_(graph), plan_(plan), config_(config), producers_(graph.Producers()) {}

const Node* GateReader::Producer(ValueId id) const {
  if (!id.valid() || !producers_[id.index()].valid()) return nullptr;
  return &graph_.node(producers_[id.index()]);
}

bool GateReader::IsInteger(ValueId id) const {
  const Node* node = Producer(id);
  if (node == nullptr || plan_.forms[NodeOf(id)] != NodeForm::kInteger) return false;
  return config_.empty() || !LayerOf(graph_, *node, config_).profile;
}

std::optional<ValuePair> GateReader::Operands(ValueId id, BinaryOp kind, bool may_clip) const {
  const auto* op = As<Binary>(id);
  if (op == nullptr || op->op != kind) return {};
  if (op->clamp.active() && !(may_clip && op->clamp.lo == -op->clamp.hi)) return {};
  const Node& node = *Producer(id);
  for (const ValueId input : node.inputs) {
    const Value& value = graph_.value(input);
    if (!value.is_constant() && value.shape != graph_.value(id).shape) return {};
  }
  return ValuePair{node.inputs[0], node.inputs[1]};
}

ValueId GateReader::Argument(ValueId id, UnaryOp kind) const {
  const auto* op = As<Unary>(id);
  return op != nullptr && op->op == kind && !op->scales_channels() ? Producer(id)->inputs[0]
                                                                   : ValueId();
}

std::optional<ValuePair> GateReader::ProductWith(ValueId id, UnaryOp kind) const {
  std::optional<ValuePair> pair = Operands(id, BinaryOp::kMul);
  if (!pair) return {};
  if (!Argument(pair->first, kind).valid()) std::swap(pair->first, pair->second);
  if (!Argument(pair->first, kind).valid()) return {};
  return pair;
}

bool GateReader::AddBias(const Value& value, const Part& part, GateSum* gate) const {
  if (value.dtype != DType::kF32 || value.origin != nullptr) return false;
  const auto numbers = value.constant->As<float>();
  const auto count = static_cast<int64_t>(numbers.size());
  const int64_t width = value.shape.empty() ? 1 : value.shape.back();
  if (count == 0 || (width != 1 && width < part.column + part.columns)) return false;
  if (width == 1 && count != 1) return false;
  for (int64_t i = width; i < count; ++i) {  // the same for all rows
    if (numbers[static_cast<size_t>(i)] != numbers[static_cast<size_t>(i % width)]) return false;
  }
  for (int64_t i = 0; i < part.columns; ++i) {
    gate->bias[static_cast<size_t>(i)] +=
        static_cast<double>(numbers[static_cast<size_t>(width == 1 ? 0 : part.column + i)]);
  }
  return true;
}

bool GateReader::AddProduct(const Node& node, const Part& part, GateSum* gate) const {
  const auto& op = std::get<MatMul>(node.op);
  if (op.clamp.active() || !HasConstantMatrix(graph_, node)) return false;
  const Value& w = graph_.value(node.inputs[1]);
  if (w.origin != nullptr || w.dtype != DType::kF32 || w.shape[0] > kMostInputs) return false;
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    const Value& bias = graph_.value(node.inputs[2]);
    if (!bias.is_constant() || !AddBias(bias, part, gate)) return false;
  }
  gate->products.push_back({{node.inputs[0], part.row}, node.inputs[1], part.column});
  return true;
}

bool GateReader::AddParts(ValueId id, Part part, GateSum* gate,
                          std::optional<ValuePair>* reset) const {
  const Value& value = graph_.value(id);
  if (value.is_constant()) return AddBias(value, part, gate);
  const Node* node = Producer(id);
  if (node == nullptr || value.shape.empty()) return false;
  const Value& x = graph_.value(node->inputs[0]);
  if (std::holds_alternative<Identity>(node->op))
    return AddParts(node->inputs[0], part, gate, reset);
  if (std::holds_alternative<Reshape>(node->op)) {
    const bool same = !x.shape.empty() && x.shape.back() == value.shape.back() &&
                      x.layout == Layout::kPlain && value.layout == Layout::kPlain;
    return same && AddParts(node->inputs[0], part, gate, reset);
  }
  if (const auto* slice = std::get_if<Slice>(&node->op)) {
    const bool dense = std::all_of(slice->steps.begin(), slice->steps.end(),
                                   [](int64_t step) { return step == 1; });
    const auto row = FirstRow(*slice, x.shape, value.shape, part.row);
    if (!dense || !row || x.layout != Layout::kPlain) return false;
    part.row = *row;
    part.column += slice->starts.back();
    return AddParts(node->inputs[0], part, gate, reset);
  }
  if (As<MatMul>(id) != nullptr) return AddProduct(*node, part, gate);
  if (const auto pair = Operands(id, BinaryOp::kAdd)) {
    return AddParts(pair->first, part, gate, reset) && AddParts(pair->second, part, gate, reset);
  }
  const auto product = ProductWith(id, UnaryOp::kSigmoid);
  if (reset == nullptr || !product || *reset || part.row != 0 || part.column != 0) return false;
  *reset = product;
  return true;
}

std::optional<GateSum> GateReader::ReadGate(const RecurrentCell& cell, ValueId id,
                                            std::optional<ValuePair>* reset) const {
  GateSum gate;
  gate.bias.assign(static_cast<size_t>(cell.hidden), 0.0);
  const Shape& shape = graph_.value(id).shape;
  const bool whole = !shape.empty() && shape.back() == cell.hidden && RowsOf(shape) == cell.batch;
  if (!whole && !graph_.value(id).is_constant()) return {};
  if (!AddParts(id, {0, cell.batch, 0, cell.hidden}, &gate, reset)) return {};
  return gate;
}

}  // namespace rshift
