#include "interop/apply_weights.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "quantize/numerics/quantize.h"

namespace rshift {
namespace {

// The dimension of a node's weights that is its output channels; -1: not an operator with weights.
int64_t ChannelAxis(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Conv>(node.op)) return 0;
  const bool is_matrix = std::holds_alternative<MatMul>(node.op) && node.inputs.size() > 1 &&
                         graph.value(node.inputs[1]).shape.size() == 2;
  return is_matrix ? 1 : -1;
}

// Constant f32 weights of the node; null when it has none.
const Value* WeightsOf(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || !node.inputs[1].valid()) return nullptr;
  const Value& w = graph.value(node.inputs[1]);
  return w.is_constant() && w.dtype == DType::kF32 ? &w : nullptr;
}

void CheckCount(const ScaleSet& set, const ScaleEntry& entry, int64_t channels) {
  const auto count = static_cast<int64_t>(entry.scales.size());
  RSHIFT_REQUIRE(count == 1 || count == channels, ErrorCode::kInvalidInput, set.where,
                 ": weights '", entry.name, "' have ", count, " scales, expected one, or ",
                 channels, ", one for each output channel; is it of another model?");
}

std::shared_ptr<const QuantizedOrigin> Quantized(const ScaleEntry& entry, const Value& w,
                                                 int64_t axis) {
  const bool is_signed = IsSigned(entry);
  auto origin = std::make_shared<QuantizedOrigin>();
  origin->dtype = is_signed ? DType::kS8 : DType::kU8;
  origin->axis = entry.scales.size() > 1 ? axis : -1;
  for (const double scale : entry.scales) origin->scales.push_back(static_cast<float>(scale));
  for (size_t i = 0; i < entry.scales.size(); ++i) {
    origin->zero_points.push_back(
        entry.zero_points.empty() ? 0 : static_cast<int32_t>(entry.zero_points[i]));
  }
  const auto lo = static_cast<int32_t>(QMin(entry.bits, is_signed));
  const auto hi = static_cast<int32_t>(QMax(entry.bits, is_signed));
  const auto elements = w.constant->As<float>();
  const int64_t inner = axis == 0 ? NumElements(w.shape) / std::max<int64_t>(w.shape[0], 1) : 1;
  auto integers = std::make_shared<ConstantData>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const int64_t channel =
        origin->scales.size() > 1 ? static_cast<int64_t>(i) / inner % w.shape[axis] : 0;
    const int32_t q = numerics::QuantizeValue(elements[i], origin->scales[channel],
                                              origin->zero_points[channel], lo, hi);
    integers->bytes.push_back(static_cast<uint8_t>(q));
  }
  origin->integers = std::move(integers);
  return origin;
}

constexpr const char* kOtherAxis =
    "scales of weights not used: along another dimension than the output channels";
constexpr const char* kOtherWeights =
    "scales of weights not used: the constant is no convolution's or matrix product's as it "
    "stands, or batch normalization is folded into it";

// Gives the weights of one node their integers. "" or why not.
std::string ApplyTo(const ScaleSet& set, const ScaleEntry& entry, const Node& node, bool transposed,
                    Graph* graph) {
  const int64_t axis = ChannelAxis(*graph, node);
  const Value* w = WeightsOf(*graph, node);
  if (axis < 0 || w == nullptr) return kOtherWeights;
  const int64_t in_file = transposed ? 1 - axis : axis;
  if (entry.scales.size() > 1 && entry.axis >= 0 && entry.axis != in_file) return kOtherAxis;
  CheckCount(set, entry, w->shape[axis]);
  graph->value(node.inputs[1]).origin = Quantized(entry, *w, axis);
  return "";
}

// The node's weights are the constant transposed and nothing else: as the importer made them.
bool IsAsImported(const Graph& imported, const Graph& graph, const Node& node) {
  const Value* now = WeightsOf(graph, node);
  for (const Node& before : imported.nodes()) {
    if (before.name == node.name && std::holds_alternative<MatMul>(before.op)) {
      const Value* then = WeightsOf(imported, before);
      return now != nullptr && then != nullptr && then->name == now->name;
    }
  }
  return false;
}

// Nodes whose weights have this name, or, when the importer transposed the constant, that read it
// in the file.
std::vector<std::pair<NodeId, bool>> NodesOf(const ModelNames& names, const Graph& imported,
                                             const Graph& graph, const std::string& constant) {
  std::vector<std::pair<NodeId, bool>> found;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Value* w = WeightsOf(graph, graph.nodes()[n]);
    if (w != nullptr && w->name == constant) found.emplace_back(static_cast<int32_t>(n), false);
  }
  const auto readers = names.weights.find(constant);
  if (readers == names.weights.end()) return found;
  for (const WeightReader& reader : readers->second) {
    if (!reader.transposed || reader.scaled) continue;
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
      const Node& node = graph.nodes()[n];
      if (node.name == reader.node && IsAsImported(imported, graph, node))
        found.emplace_back(static_cast<int32_t>(n), true);
    }
  }
  return found;
}

}  // namespace

std::vector<NodeId> WeightedNodes(const ModelNames& names, const Graph& graph,
                                  const std::string& constant) {
  std::vector<NodeId> nodes;
  const auto readers = names.weights.find(constant);
  if (readers == names.weights.end()) return nodes;
  for (const WeightReader& reader : readers->second) {
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
      if (graph.nodes()[n].name == reader.node) nodes.emplace_back(static_cast<int32_t>(n));
    }
  }
  return nodes;
}

std::string ApplyWeightScales(const ScaleSet& set, const ScaleEntry& entry, const Graph& imported,
                              const ModelNames& names, Graph* graph) {
  const auto nodes = NodesOf(names, imported, *graph, entry.name);
  if (nodes.empty()) {
    const bool known = names.weights.contains(entry.name) || imported.FindValue(entry.name).valid();
    return known ? kOtherWeights
                 : "scales of weights not used: the model has no weights of that name";
  }
  if (entry.bits > 8 || entry.scales.empty())
    return "scales of weights not used: without a scale of at most 8 bits";
  std::string why;
  for (const auto& [node, transposed] : nodes) {
    const std::string here = ApplyTo(set, entry, graph->node(node), transposed, graph);
    if (!here.empty()) why = here;
  }
  return why;
}

}  // namespace rshift
