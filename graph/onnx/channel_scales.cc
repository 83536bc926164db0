// Scales along an axis of an activation (NNCF gives them to the input of a depthwise convolution):
// the import writes x / scale before the Quantize and a product with scale behind the Dequantize.
// Both can go into weights: the quotient into those of the convolution before it, once nothing
// stands between, the product into those of a depthwise convolution behind it.
#include "graph/onnx/channel_scales.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "graph/fold/origin.h"
#include "graph/passes/util.h"

namespace rshift {
namespace {

using Numbers = std::vector<double>;

// The constant of node = x op constant, with an element for each index of dimension 1.
std::optional<Numbers> AnyChannelOperand(const Graph& graph, const Node& node, BinaryOp op) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != op) return std::nullopt;
  const Shape& shape = graph.value(node.outputs[0]).shape;
  if (shape.size() < 2 || graph.value(node.inputs[0]).shape != shape) return std::nullopt;
  return ChannelConstant(graph, node.inputs[1], shape, 1);
}

// The same of positive numbers.
std::optional<Numbers> ChannelOperand(const Graph& graph, const Node& node, BinaryOp op) {
  auto numbers = AnyChannelOperand(graph, node, op);
  const bool positive =
      numbers && std::all_of(numbers->begin(), numbers->end(), [](double v) { return v > 0; });
  return positive ? numbers : std::nullopt;
}

bool IsDepthwise(const Graph& graph, const Node& node, ValueId x) {
  const auto* conv = std::get_if<Conv>(&node.op);
  if (conv == nullptr || node.inputs[0] != x) return false;
  const Value& w = graph.value(node.inputs[1]);
  return w.is_constant() && w.dtype == DType::kF32 && w.shape[1] == 1 &&
         graph.value(x).shape[1] == conv->groups;
}

bool IsZeroPad(const Node& node) {
  const auto* pad = std::get_if<Pad>(&node.op);
  return pad != nullptr && pad->mode == PadMode::kConstant && pad->value == 0;
}

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), links_(graph) {}

  void Run() {
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (graph_.nodes()[n].outputs.empty()) continue;
      IntoDepthwise(n);
      BeforeActivations(n);
      FactorsBeforeActivations(n);
    }
  }

 private:
  // --- Dequantize -> Mul -> depthwise convolutions, zero pads before them or not

  void IntoDepthwise(size_t n) {
    const Node& node = graph_.nodes()[n];
    const auto factors = ChannelOperand(graph_, node, BinaryOp::kMul);
    if (!factors || !IsDequantized(node.inputs[0])) return;
    std::vector<size_t> convs;
    if (!FindReaders(node.outputs[0], &convs)) return;
    for (const size_t conv : convs) ScaleWeights(graph_.nodes()[conv], *factors);
    graph_.ReplaceUses(node.outputs[0], node.inputs[0]);
  }

  // Zero points of channels may have been taken off.
  bool IsDequantized(ValueId x) const {
    const Node* producer = links_.Producer(x);
    if (producer != nullptr && AnyChannelOperand(graph_, *producer, BinaryOp::kSub))
      x = producer->inputs[0];
    return links_.ProducerAs<Dequantize>(x) != nullptr;
  }

  bool FindReaders(ValueId x, std::vector<size_t>* convs) const {
    if (links_.IsOutput(x)) return false;
    for (const NodeId reader : links_.Consumers(x)) {
      const Node& node = graph_.node(reader);
      if (IsZeroPad(node) && node.inputs[0] == x) {
        if (!FindReaders(node.outputs[0], convs)) return false;
      } else if (IsDepthwise(graph_, node, x)) {
        convs->push_back(static_cast<size_t>(reader.index()));
      } else {
        return false;
      }
    }
    return true;
  }

  void ScaleWeights(Node& node, const Numbers& channels) {
    const Value old = graph_.value(node.inputs[1]);
    const auto repeats = static_cast<size_t>(old.shape[0]) / channels.size();
    Numbers factors;
    for (int64_t o = 0; o < old.shape[0]; ++o) {
      factors.push_back(channels[static_cast<size_t>(o) / repeats]);
    }
    const auto elements = old.constant->As<float>();
    const size_t taps = elements.size() / factors.size();
    std::vector<float> scaled(elements.size());
    for (size_t i = 0; i < scaled.size(); ++i) {
      scaled[i] = static_cast<float>(elements[i] * factors[i / taps]);
    }
    Value value = old;
    value.name = links_.TakeName(old.name + "__scaled");
    value.constant = MakeConstant(std::span<const float>(scaled));
    value.origin = ScaleOrigin(old, 0, factors);
    if (value.origin != nullptr && !value.origin->tuned)
      value.constant = RealsOf(*value.origin, value.shape);
    node.inputs[1] = graph_.AddValue(std::move(value));
  }

  // --- activation -> Div -> Quantize: Div, activation, Quantize is the same for what multiplies by
  // positive numbers, or clips where the bytes end anyway

  void BeforeActivations(size_t n) {
    const auto divisors = ChannelOperand(graph_, graph_.nodes()[n], BinaryOp::kDiv);
    if (!divisors || !links_.IsInternal(graph_.nodes()[n].outputs[0])) return;
    const std::optional<Numbers> tops = LastLevels(graph_.nodes()[n].outputs[0]);
    if (!tops) return;
    while (SwapWithProducer(n, *divisors, &*tops)) {
    }
  }

  // The only reader of x; null where there is none.
  const Node* OnlyReader(ValueId x) const {
    return links_.IsInternal(x) ? &graph_.node(links_.Consumers(x)[0]) : nullptr;
  }

  // The greatest number of each channel of x that the Quantize behind it does not saturate: one, or
  // one for each where their zero points are added behind a Round.
  std::optional<Numbers> LastLevels(ValueId x) const {
    const Node* reader = OnlyReader(x);
    std::optional<Numbers> zeros;
    const auto* round = reader == nullptr ? nullptr : std::get_if<Unary>(&reader->op);
    if (round != nullptr && round->op == UnaryOp::kRound) {
      reader = OnlyReader(reader->outputs[0]);
      if (reader != nullptr) zeros = AnyChannelOperand(graph_, *reader, BinaryOp::kAdd);
      if (!zeros) return std::nullopt;
      reader = OnlyReader(reader->outputs[0]);
    }
    if (reader == nullptr || !std::holds_alternative<Quantize>(reader->op)) return std::nullopt;
    const Value& bytes = graph_.value(reader->outputs[0]);
    if (!bytes.quant || bytes.ranges != nullptr) return std::nullopt;  // SplitOptions::keep_ranges
    const double top = (bytes.dtype == DType::kU8 ? 255 : 127) - bytes.quant->zero_point;
    if (!zeros) return Numbers{top};
    for (double& zero : *zeros) zero = top - zero;
    return zeros;
  }

  // activation -> Mul: Mul, activation, so that a convolution before both takes the factors in.
  void FactorsBeforeActivations(size_t n) {
    const auto factors = ChannelOperand(graph_, graph_.nodes()[n], BinaryOp::kMul);
    if (!factors || graph_.value(graph_.nodes()[n].outputs[0]).dtype != DType::kF32) return;
    if (std::get<Binary>(graph_.nodes()[n].op).clamp.active()) return;
    const bool uniform = std::all_of(factors->begin(), factors->end(),
                                     [&](double factor) { return factor == factors->front(); });
    if (uniform) return;  // a factor of the whole tensor is an output scale
    while (SwapWithProducer(n, *factors, nullptr)) {
    }
  }

  // The nodes change places in the data flow: what the Div wrote, the activation writes. `tops`:
  // LastLevels(); null where nothing is clipped behind the factors.
  bool SwapWithProducer(size_t n, const Numbers& divisors, const Numbers* tops) {
    Node& div = graph_.nodes()[n];
    const NodeId before = links_.ProducerId(div.inputs[0]);
    if (!before.valid() || !links_.IsInternal(div.inputs[0])) return false;
    Node& activation = graph_.nodes()[before.index()];
    if (!Commutes(activation.op, divisors, tops)) return false;
    const NodeId id(static_cast<int32_t>(n));
    links_.Detach(before);
    links_.Detach(id);
    std::swap(div.inputs[0], activation.inputs[0]);  // div reads x, activation itself
    std::swap(div.outputs, activation.outputs);      // activation writes what Div wrote
    activation.inputs[0] = div.outputs[0];
    Value& units = graph_.value(div.outputs[0]);
    units.name = links_.TakeName(units.name + "__units");
    links_.Attach(before);
    links_.Attach(id);
    return true;
  }

  static bool Commutes(Op& op, const Numbers& divisors, const Numbers* tops) {
    if (std::holds_alternative<LeakyRelu>(op)) return true;
    auto* clip = std::get_if<Clip>(&op);
    if (clip == nullptr) return false;
    Clamp& clamp = clip->clamp;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (clamp.lo != 0 && clamp.lo != -kInfinity) return false;
    if (tops == nullptr) return clamp.hi == kInfinity;
    // Beyond the last integer of every channel.
    for (size_t c = 0; c < divisors.size(); ++c) {
      const auto top = static_cast<float>((*tops)[tops->size() == 1 ? 0 : c]);
      if (clamp.hi / static_cast<float>(divisors[c]) < top - 0.499f) return false;
    }
    clamp.hi = kInfinity;
    return true;
  }

  Graph& graph_;
  Links links_;
};

}  // namespace

Graph FoldChannelScales(Graph graph) {
  const bool any = std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return std::holds_alternative<Quantize>(node.op) || std::holds_alternative<Dequantize>(node.op);
  });
  if (!any) return graph;
  Folder(graph).Run();
  return Tidy(std::move(graph));
}

}  // namespace rshift
