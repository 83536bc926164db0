#include "graph/onnx/dynamic_product.h"

#include <cmath>
#include <cstdlib>

#include "graph/passes/util.h"

namespace rshift {
namespace {

constexpr int64_t kMostSum = 2147483647;
constexpr int64_t kLargestInput = 255;

// sum |w - zero| of every channel stays within int32 with any source.
bool FitsAccumulator(std::span<const int8_t> bytes, const std::vector<int32_t>& zero_w,
                     int64_t channels, int64_t inner) {
  std::vector<int64_t> sums(static_cast<size_t>(channels), 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t c = static_cast<size_t>(static_cast<int64_t>(i) / inner % channels);
    sums[c] += std::abs(bytes[i] - (zero_w.empty() ? 0 : zero_w[c]));
    if (sums[c] * kLargestInput > kMostSum) return false;
  }
  return true;
}

// What gives `value` its element `index` of a tensor of two f32, looked up through Cast and
// Reshape.
ValueId SourceOfPart(const Graph& graph, const std::vector<NodeId>& producers, ValueId value,
                     int64_t index) {
  for (int depth = 0; depth < 8 && value.valid(); ++depth) {
    const NodeId producer = producers[value.index()];
    if (!producer.valid()) return ValueId();
    const Node& node = graph.node(producer);
    const bool moves = std::holds_alternative<Cast>(node.op) ||
                       std::holds_alternative<Reshape>(node.op) ||
                       std::holds_alternative<Identity>(node.op);
    if (!moves) {
      const auto* slice = std::get_if<Slice>(&node.op);
      if (slice == nullptr) return ValueId();
      const Value& from = graph.value(node.inputs[0]);
      const bool part = from.dtype == DType::kF32 && from.shape == Shape{2} &&
                        graph.value(value).shape == Shape{1} && slice->starts[0] == index;
      return part ? node.inputs[0] : ValueId();
    }
    value = node.inputs[0];
  }
  return ValueId();
}

bool IsSum(const Op& op) {
  const auto* conv = std::get_if<DynamicConv>(&op);
  const auto* matmul = std::get_if<DynamicMatMul>(&op);
  return (conv != nullptr && conv->scales.empty()) || (matmul != nullptr && matmul->scales.empty());
}

DynamicLinear& Linear(Op& op) {
  if (auto* conv = std::get_if<DynamicConv>(&op)) return *conv;
  return std::get<DynamicMatMul>(op);
}

// One f32 a channel, of a constant that broadcasts along `axis` of `shape` alone. Numbers that a
// record does not hold: nothing.
std::optional<std::vector<float>> ChannelNumbers(const Graph& graph, ValueId id, const Shape& shape,
                                                 int64_t axis, bool scales) {
  const auto numbers = ChannelConstant(graph, id, shape, axis);
  if (!numbers) return std::nullopt;
  std::vector<float> result;
  for (const double number : *numbers) {
    if (!std::isfinite(number) || (scales && std::signbit(number))) return std::nullopt;
    result.push_back(static_cast<float>(number));
  }
  return result;
}

class Fuser {
 public:
  explicit Fuser(Graph& graph) : graph_(graph), links_(graph), producers_(graph.Producers()) {}

  void Fuse(size_t n) {
    const Node& product = graph_.nodes()[n];
    const ValueId sum = product.outputs[0];
    const Node* cast = ReaderOf(sum);
    if (cast == nullptr || !std::holds_alternative<Cast>(cast->op)) return;
    const ValueId real = cast->outputs[0];
    if (graph_.value(real).dtype != DType::kF32) return;
    const Node* times = BinaryReader(real, BinaryOp::kMul);
    if (times == nullptr) return;
    const Shape shape = graph_.value(sum).shape;
    const int64_t axis = std::holds_alternative<DynamicConv>(product.op)
                             ? 1
                             : static_cast<int64_t>(shape.size()) - 1;
    const auto scales = Scales(Other(*times, real), product.inputs[2], shape, axis);
    if (!scales || graph_.value(times->outputs[0]).shape != shape) return;
    ValueId y = times->outputs[0];
    std::vector<float> bias;
    const Node* plus = BinaryReader(y, BinaryOp::kAdd);
    if (plus != nullptr && graph_.value(plus->outputs[0]).shape == shape) {
      if (const auto numbers = ChannelNumbers(graph_, Other(*plus, y), shape, axis, false)) {
        bias = *numbers;
        y = plus->outputs[0];
      }
    }
    Write(n, *scales, std::move(bias), y);
  }

 private:
  const Node* ReaderOf(ValueId id) const {
    return links_.IsInternal(id) ? &graph_.node(links_.Consumers(id)[0]) : nullptr;
  }
  const Node* BinaryReader(ValueId id, BinaryOp op) const {
    const Node* node = ReaderOf(id);
    const auto* binary = node == nullptr ? nullptr : std::get_if<Binary>(&node->op);
    return binary != nullptr && binary->op == op && !binary->clamp.active() ? node : nullptr;
  }
  static ValueId Other(const Node& node, ValueId id) {
    return node.inputs[0] == id ? node.inputs[1] : node.inputs[0];
  }

  // Of `factor` = the record's scale, or that times a constant: the constant for each channel.
  std::optional<std::vector<float>> Scales(ValueId factor, ValueId record, const Shape& shape,
                                           int64_t axis) const {
    const auto is_scale = [&](ValueId id) {
      return SourceOfPart(graph_, producers_, id, 0) == record;
    };
    const auto ones = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
    if (is_scale(factor)) return std::vector<float>(ones, 1.0f);
    const auto* binary = links_.ProducerAs<Binary>(factor);
    if (binary == nullptr || binary->op != BinaryOp::kMul || binary->clamp.active())
      return std::nullopt;
    const Node& node = *links_.Producer(factor);
    for (size_t side = 0; side < 2; ++side) {
      if (is_scale(node.inputs[side]))
        return ChannelNumbers(graph_, node.inputs[1 - side], shape, axis, true);
    }
    return std::nullopt;
  }

  // The product gives y; what made y gives it no longer.
  void Write(size_t n, std::vector<float> scales, std::vector<float> bias, ValueId y) {
    const NodeId old = links_.ProducerId(y);
    Node& last = graph_.nodes()[static_cast<size_t>(old.index())];
    Node& product = graph_.nodes()[n];
    links_.Detach(old);
    links_.Detach(NodeId(static_cast<int32_t>(n)));
    Disconnect(last);
    product.outputs = {y};
    DynamicLinear& linear = Linear(product.op);
    linear.scales = std::move(scales);
    linear.bias = std::move(bias);
    links_.Attach(NodeId(static_cast<int32_t>(n)));
  }

  Graph& graph_;
  Links links_;
  std::vector<NodeId> producers_;  // before the fusion
};

}  // namespace

std::optional<DynamicWeights> ReadDynamicWeights(OnnxNode& node, ValueId weights, ValueId zero,
                                                 int64_t axis) {
  const Value w = node.At(weights);
  const bool unsigned_bytes = w.dtype == DType::kU8;
  if (!w.is_constant() || (w.dtype != DType::kS8 && !unsigned_bytes) || NumElements(w.shape) == 0)
    return std::nullopt;
  if (zero.valid() && (!node.At(zero).is_constant() || node.At(zero).dtype != w.dtype))
    return std::nullopt;
  const int64_t channels = w.shape[static_cast<size_t>(axis)];
  std::vector<int64_t> zeros = zero.valid() ? IntElements(node.At(zero)) : std::vector<int64_t>{0};
  if (static_cast<int64_t>(zeros.size()) != channels && zeros.size() != 1) return std::nullopt;
  const int32_t less = unsigned_bytes ? 128 : 0;
  DynamicWeights result;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t own = zeros.size() == 1 ? zeros[0] : zeros[static_cast<size_t>(c)];
    result.zero_w.push_back(static_cast<int32_t>(own) - less);
  }
  std::vector<int8_t> bytes;
  for (const uint8_t byte : w.constant->bytes)
    bytes.push_back(static_cast<int8_t>(unsigned_bytes ? byte ^ 0x80 : byte));
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(axis) + 1; d < w.shape.size(); ++d) inner *= w.shape[d];
  if (!FitsAccumulator(bytes, result.zero_w, channels, inner)) return std::nullopt;
  Value constant;
  constant.dtype = DType::kS8;
  constant.shape = w.shape;
  constant.constant = MakeConstant(std::span<const int8_t>(bytes));
  result.bytes = node.Add(std::move(constant));
  return result;
}

ValueId PartOfRecord(OnnxNode& node, ValueId record, int64_t index) {
  const ValueId part = node.Emit(Slice{{index}, {1}}, {record}, DType::kF32, {1});
  return node.Reshaped(part, {});
}

ValueId RecordOf(OnnxNode& node, ValueId scale, ValueId zero) {
  const Graph& graph = node.state().graph;
  const std::vector<NodeId> producers = graph.Producers();
  if (zero.valid()) {
    const ValueId record = SourceOfPart(graph, producers, zero, 1);
    const bool same = !scale.valid() || SourceOfPart(graph, producers, scale, 0) == record;
    if (record.valid() && same) return record;
  }
  const ValueId first = scale.valid() ? scale : node.Scalar(1.0f);
  const ValueId second = zero.valid() ? node.Converted(zero, DType::kF32) : node.Scalar(0.0f);
  return node.Emit(Concat{0}, {node.Reshaped(first, {1}), node.Reshaped(second, {1})}, DType::kF32,
                   {2});
}

void FuseDynamicResults(Graph& graph) {
  bool any = false;
  for (const Node& node : graph.nodes()) any |= IsSum(node.op);
  if (!any) return;
  Fuser fuser(graph);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    if (IsSum(graph.nodes()[n].op)) fuser.Fuse(n);
  }
  graph.RemoveUnused();
  graph.SortTopologically();
}

}  // namespace rshift
