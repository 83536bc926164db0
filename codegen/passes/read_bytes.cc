#include "codegen/passes/read_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "codegen/packing/packing.h"
#include "codegen/passes/rewriter.h"

namespace rshift {
namespace {

// Where channel c of the weights begins, how far apart its weights are, and how many there are.
struct WeightOrder {
  int64_t channel_stride = 1, stride = 1, products = 0;
};
WeightOrder OrderOf(const QConvS16&, const Shape& w) {
  const int64_t products = w[1] * w[2] * w[3];
  return {products, 1, products};
}
WeightOrder OrderOf(const QMatMulS16&, const Shape& w) { return {1, w[1], w[0]}; }

// A depthwise convolution has kernels of its own for either width.
bool HasByteKernel(const QConvS16& op, const Shape& x, const Shape& w) {
  return !IsDepthwise(op.groups, x.back(), w[0]);
}
bool HasByteKernel(const QMatMulS16&, const Shape&, const Shape&) { return true; }

// The records of a product that reads `bytes`; none where an accumulator may leave 32 bits.
template <typename Q>
std::vector<ChannelRequant> RecordsOf(const Q& op, const Value& bytes, const Value& w) {
  const WeightOrder order = OrderOf(op, w.shape);
  const auto weights = w.constant->As<int8_t>();
  const int64_t zero = bytes.quant ? bytes.quant->zero_point : 0;
  const int64_t largest = bytes.dtype == DType::kS8 ? 128 : 255;
  std::vector<ChannelRequant> records = op.channels;
  for (size_t c = 0; c < records.size(); ++c) {
    int64_t sum = 0, magnitudes = 0;
    for (int64_t k = 0; k < order.products; ++k) {
      const int64_t weight = weights[static_cast<size_t>(
          static_cast<int64_t>(c) * order.channel_stride + k * order.stride)];
      sum += weight;
      magnitudes += std::abs(weight);
    }
    const int64_t bias = int64_t{records[c].bias} - zero * sum;
    if (std::abs(bias) + largest * magnitudes > INT32_MAX) return {};
    records[c].bias = static_cast<int32_t>(bias);
  }
  return records;
}

class BytesReader {
 public:
  explicit BytesReader(const Graph& graph)
      : graph_(graph),
        widened_(static_cast<size_t>(graph.value_count())),
        readers_(widened_.size()) {
    for (const Node& node : graph.nodes()) {
      if (WidensBytes(graph, node)) widened_[node.outputs[0].index()] = &node;
    }
    for (const Node& node : graph.nodes()) {
      const bool reads_byte = !Records(node).empty();
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].valid() && !(i == 0 && reads_byte)) ++readers_[node.inputs[i].index()];
      }
    }
    for (const ValueId output : graph.outputs) ++readers_[output.index()];
  }

  bool Rewrite(GraphRewriter& rewriter, const Node& node) const {
    if (WidensBytes(graph_, node)) return readers_[node.outputs[0].index()] == 0;
    std::vector<ChannelRequant> records = Records(node);
    if (records.empty()) return false;
    Op op = node.op;
    if (auto* conv = std::get_if<QConvS16>(&op))
      conv->channels = std::move(records);
    else if (auto* product = std::get_if<QMatMulS16>(&op))
      product->channels = std::move(records);
    std::vector<ValueId> inputs = {rewriter.Same(Widening(node)->inputs[0])};
    for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(rewriter.Same(node.inputs[i]));
    rewriter.AddNode(node.name, std::move(op), std::move(inputs), rewriter.Same(node.outputs[0]));
    return true;
  }

 private:
  const Node* Widening(const Node& node) const {
    return node.inputs.empty() || !node.inputs[0].valid() ? nullptr
                                                          : widened_[node.inputs[0].index()];
  }

  // Of a product that will read bytes; else none.
  std::vector<ChannelRequant> Records(const Node& node) const {
    if (const auto* conv = std::get_if<QConvS16>(&node.op)) return RecordsFor(node, *conv);
    if (const auto* product = std::get_if<QMatMulS16>(&node.op)) return RecordsFor(node, *product);
    return {};
  }
  template <typename Q>
  std::vector<ChannelRequant> RecordsFor(const Node& node, const Q& op) const {
    const Node* widening = Widening(node);
    if (widening == nullptr || op.rounding != Rounding::kHalfUp) return {};
    if (graph_.value(node.outputs[0]).dtype != DType::kS16) return {};
    const Value& bytes = graph_.value(widening->inputs[0]);
    const Value& w = graph_.value(node.inputs[1]);
    return HasByteKernel(op, bytes.shape, w.shape) ? RecordsOf(op, bytes, w)
                                                   : std::vector<ChannelRequant>();
  }

  const Graph& graph_;
  std::vector<const Node*> widened_;  // by value: what widens bytes into it
  std::vector<int64_t> readers_;      // by value: what will read it, outputs of the graph included
};

}  // namespace

bool WidensBytes(const Graph& graph, const Node& node) {
  const auto* op = std::get_if<isa::RequantizeS16>(&node.op);
  if (op == nullptr || op->words.multiplier != 0) return false;
  const DType from = graph.value(node.inputs[0]).dtype, to = graph.value(node.outputs[0]).dtype;
  return (from == DType::kS8 || from == DType::kU8) && to == DType::kS16 && op->clamp.lo <= -255 &&
         op->clamp.hi >= 255;
}

Graph ReadBytes(const Graph& graph) {
  const BytesReader reader(graph);
  return RewriteNodes(graph, [&](GraphRewriter& rewriter, const Node& node) {
    return reader.Rewrite(rewriter, node);
  });
}

}  // namespace rshift
