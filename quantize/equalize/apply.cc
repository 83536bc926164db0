#include "quantize/equalize/apply.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <variant>

#include "base/error.h"
#include "base/unique_names.h"
#include "quantize/equalize/channel_groups.h"
#include "quantize/equalize/product_weights.h"
#include "quantize/ranges/ranges.h"

namespace rshift {
namespace {

constexpr const char* kMend = "; the table is another model's or was edited: calibrate this model";

// By group; those of no tensor in the list are 0.
std::vector<int32_t> GroupExponents(const Graph& graph, const ChannelGroups& groups,
                                    const Equalization& equalization, const std::string& where) {
  std::vector<std::optional<int32_t>> found(groups.free.size());
  for (const ChannelExponents& entry : equalization) {
    const ValueId id = graph.FindValue(entry.tensor);
    RSHIFT_REQUIRE(id.valid(), ErrorCode::kInvalidInput, where, ": equalization of tensor '",
                   entry.tensor, "', which the model does not have", kMend);
    const std::vector<int32_t>& channels = groups.of_value[id.index()];
    RSHIFT_REQUIRE(channels.size() == entry.exponents.size(), ErrorCode::kInvalidInput, where,
                   ": equalization of tensor '", entry.tensor, "': ", entry.exponents.size(),
                   " exponents, expected ", channels.size(), ", one for each channel", kMend);
    for (size_t c = 0; c < channels.size(); ++c) {
      const auto group = static_cast<size_t>(channels[c]);
      RSHIFT_REQUIRE(groups.free[group] || entry.exponents[c] == 0, ErrorCode::kInvalidInput, where,
                     ": equalization of tensor '", entry.tensor, "': its channels cannot be scaled",
                     kMend);
      RSHIFT_REQUIRE(!found[group] || *found[group] == entry.exponents[c], ErrorCode::kInvalidInput,
                     where, ": equalization of tensor '", entry.tensor, "', channel ", c,
                     ": exponent ", entry.exponents[c], ", another tensor of the same channel has ",
                     found[group].value_or(0), kMend);
      found[group] = entry.exponents[c];
    }
  }
  std::vector<int32_t> exponents;
  exponents.reserve(found.size());
  for (const std::optional<int32_t>& exponent : found) exponents.push_back(exponent.value_or(0));
  return exponents;
}

class Equalizer {
 public:
  Equalizer(Graph graph, const Equalization& equalization, std::string where)
      : graph_(std::move(graph)), where_(std::move(where)) {
    const ChannelGroups groups = FindChannelGroups(graph_, EqualizeThrough::kFunctions);
    const std::vector<int32_t> of_group = GroupExponents(graph_, groups, equalization, where_);
    for (const std::vector<int32_t>& channels : groups.of_value) {
      std::vector<int32_t>& own = exponents_.emplace_back();
      for (const int32_t group : channels) own.push_back(of_group[static_cast<size_t>(group)]);
      if (std::all_of(own.begin(), own.end(), [](int32_t e) { return e == 0; })) own.clear();
    }
    for (int i = 0; i < graph_.value_count(); ++i) names_.Take(graph_.value(ValueId(i)).name);
  }

  Graph Run() {
    for (Node& node : graph_.nodes()) {
      if (const std::optional<ProductWeights> product = ReadProduct(graph_, node))
        ScaleProduct(*product, node);
      else if (std::holds_alternative<Binary>(node.op))
        ScaleAdded(node);
      else if (std::holds_alternative<LayerNorm>(node.op) ||
               std::holds_alternative<InstanceNorm>(node.op))
        ScaleNorm(node);
      else if (auto* function = std::get_if<Unary>(&node.op))
        ScaleFunction(*function, node);
      MoveBound(node);
    }
    Rename();
    for (const ValueId id : graph_.inputs) ScaleInput(id);
    graph_.RemoveUnused();
    graph_.Check();
    return std::move(graph_);
  }

 private:
  const std::vector<int32_t>& Exponents(ValueId id) const { return exponents_[id.index()]; }
  int32_t Exponent(ValueId id, int64_t channel) const {
    const std::vector<int32_t>& own = Exponents(id);
    return own.empty() ? 0 : own[static_cast<size_t>(channel)];
  }

  float Scaled(float number, int32_t exponent, const Node& node) const {
    const float scaled = std::ldexp(number, exponent);
    RSHIFT_REQUIRE(std::isfinite(scaled) || !std::isfinite(number), ErrorCode::kInvalidInput,
                   where_, ": equalization brings a constant of '", node.name, "' (", number,
                   " x 2^", exponent, ") beyond f32's range", kMend);
    return scaled;
  }

  // A constant of its own in the place of input `input`.
  void Replace(Node& node, size_t input, std::span<const float> numbers) {
    Replace(node, input, numbers, graph_.value(node.inputs[input]).shape);
  }
  void Replace(Node& node, size_t input, std::span<const float> numbers, const Shape& shape) {
    const Value& old = graph_.value(node.inputs[input]);
    Value value{names_.Take(Cat(old.name, kEqualizedSuffix)),
                DType::kF32,
                shape,
                old.layout,
                std::nullopt,
                MakeConstant(numbers)};
    node.inputs[input] = graph_.AddValue(std::move(value));
    exponents_.emplace_back();
  }

  std::vector<float> Numbers(ValueId id) const {
    const std::span<const float> numbers = graph_.value(id).constant->As<float>();
    return {numbers.begin(), numbers.end()};
  }

  void ScaleProduct(const ProductWeights& product, Node& node) {
    if (Exponents(product.x).empty() && Exponents(product.y).empty()) return;
    std::vector<float> weights = Numbers(product.weights);
    for (int64_t o = 0; o < product.outputs; ++o) {
      for (int64_t i = 0; i < product.inputs_of_group; ++i) {
        const int32_t exponent = Exponent(product.x, product.Input(o, i)) - Exponent(product.y, o);
        for (int64_t t = 0; t < product.taps; ++t) {
          float& weight = weights[static_cast<size_t>(product.Index(o, i, t))];
          weight = Scaled(weight, exponent, node);
        }
      }
    }
    const ValueId bias = product.bias, y = product.y;
    Replace(node, 1, weights);
    if (bias.valid()) ScaleChannels(node, 2, y);
  }

  // Constant `input`, which ends in the channels of y or holds one number, for each or for all.
  void ScaleChannels(Node& node, size_t input, ValueId y) {
    std::vector<float> numbers = Numbers(node.inputs[input]);
    const auto channels = graph_.value(y).shape.back();
    Shape shape = graph_.value(node.inputs[input]).shape;
    if (numbers.size() == 1 && channels > 1) {
      numbers.resize(static_cast<size_t>(channels), numbers[0]);
      shape = {channels};
    }
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = Scaled(numbers[i], -Exponent(y, static_cast<int64_t>(i) % channels), node);
    Replace(node, input, numbers, shape);
  }

  void ScaleAdded(Node& node) {
    const BinaryOp op = std::get<Binary>(node.op).op;
    if (Exponents(node.outputs[0]).empty() || (op != BinaryOp::kAdd && op != BinaryOp::kSub))
      return;
    for (size_t i = 0; i < 2; ++i) {
      if (graph_.value(node.inputs[i]).is_constant()) ScaleChannels(node, i, node.outputs[0]);
    }
  }

  void ScaleNorm(Node& node) {
    if (Exponents(node.outputs[0]).empty()) return;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i].valid()) ScaleChannels(node, i, node.outputs[0]);
    }
  }

  void ScaleFunction(Unary& function, const Node& node) const {
    const auto add = [](std::vector<int32_t>& to, const std::vector<int32_t>& more) {
      if (to.empty()) to.resize(more.size());
      for (size_t c = 0; c < more.size(); ++c) to[c] += more[c];
    };
    add(function.input_exponents, Exponents(node.inputs[0]));
    add(function.output_exponents, Exponents(node.outputs[0]));
  }

  void Rename() {
    for (size_t i = 0; i < exponents_.size(); ++i) {
      if (exponents_[i].empty() || IsInput(ValueId(static_cast<int32_t>(i)))) continue;
      Value& value = graph_.value(ValueId(static_cast<int32_t>(i)));
      value.name = names_.Take(Cat(value.name, kEqualizedSuffix));
    }
  }

  bool IsInput(ValueId id) const {
    return std::find(graph_.inputs.begin(), graph_.inputs.end(), id) != graph_.inputs.end();
  }

  // The input stays what it is; what reads it reads a product of it.
  void ScaleInput(ValueId input) {
    const std::vector<int32_t> own = Exponents(input);
    if (own.empty()) return;
    std::vector<float> factors;
    factors.reserve(own.size());
    for (const int32_t exponent : own) factors.push_back(std::ldexp(1.0f, -exponent));
    Value value = graph_.value(input);
    value.name = names_.Take(Cat(value.name, kEqualizedSuffix));
    const std::string name = value.name;
    const ValueId scaled = graph_.AddValue(std::move(value));
    Value constant{names_.Take(Cat(name, "_factors")),
                   DType::kF32,
                   {static_cast<int64_t>(factors.size())},
                   Layout::kPlain,
                   std::nullopt,
                   MakeConstant(std::span<const float>(factors))};
    const ValueId by = graph_.AddValue(std::move(constant));
    for (Node& node : graph_.nodes()) {
      for (ValueId& id : node.inputs) {
        if (id.valid() && id == input) id = scaled;
      }
    }
    graph_.nodes().insert(graph_.nodes().begin(),
                          Node{name, Binary{BinaryOp::kMul, {}}, {input, by}, {scaled}});
  }

  void MoveBound(Node& node) {
    const std::vector<int32_t>& own = Exponents(node.outputs[0]);
    if (own.empty()) return;
    const int32_t largest = *std::max_element(own.begin(), own.end());
    std::visit(
        [&](auto& op) {
          if constexpr (requires { op.clamp.hi; }) {
            if (std::isfinite(op.clamp.hi)) op.clamp.hi = std::ldexp(op.clamp.hi, -largest);
          }
        },
        node.op);
  }

  Graph graph_;
  std::string where_;
  UniqueNames names_;
  std::vector<std::vector<int32_t>> exponents_;  // by value; empty: all are 0
};

}  // namespace

Graph Equalize(Graph graph, const Equalization& equalization, const std::string& where) {
  if (equalization.empty()) return graph;
  return Equalizer(std::move(graph), equalization, where).Run();
}

Graph WithUnequalized(Graph equalized, const Equalization& equalization) {
  std::vector<std::vector<Node>> after(equalized.nodes().size());
  const std::vector<NodeId> producers = equalized.Producers();
  const std::vector<ValueId> calibrated = CalibratedValues(equalized);
  for (const ChannelExponents& entry : equalization) {
    const ValueId id = equalized.FindValue(Cat(entry.tensor, kEqualizedSuffix));
    const bool of_input = equalized.FindValue(entry.tensor).valid();  // which is still there
    if (!id.valid() || of_input ||
        std::find(calibrated.begin(), calibrated.end(), id) == calibrated.end())
      continue;
    std::vector<float> factors;
    factors.reserve(entry.exponents.size());
    for (const int32_t exponent : entry.exponents) factors.push_back(std::ldexp(1.0f, exponent));
    Value value = equalized.value(id);
    value.name = Cat(entry.tensor, kUnequalizedSuffix);
    const std::string name = value.name;
    Value constant{
        Cat(name, "_factors"), DType::kF32,  {static_cast<int64_t>(factors.size())},
        Layout::kPlain,        std::nullopt, MakeConstant(std::span<const float>(factors))};
    const ValueId by = equalized.AddValue(std::move(constant));
    const ValueId product = equalized.AddValue(std::move(value));
    after[producers[id.index()].index()].push_back(
        Node{name, Binary{BinaryOp::kMul, {}}, {id, by}, {product}});
  }
  std::vector<Node> nodes;
  for (size_t i = 0; i < after.size(); ++i) {
    nodes.push_back(std::move(equalized.nodes()[i]));
    for (Node& product : after[i]) nodes.push_back(std::move(product));
  }
  equalized.nodes() = std::move(nodes);
  equalized.Check();
  return equalized;
}

}  // namespace rshift
