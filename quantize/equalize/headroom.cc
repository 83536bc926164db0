#include "quantize/equalize/headroom.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <variant>

#include "quantize/equalize/product_weights.h"

namespace rshift {
namespace {

constexpr int32_t kMaxExponent = std::numeric_limits<float>::max_exponent;

class Bounds {
 public:
  Bounds(const Graph& graph, const ChannelGroups& groups)
      : octaves(groups.free.size(), 2 * kMaxExponent), graph_(graph), groups_(groups) {}

  // `number` is scaled with channel `channel` of y and must stay finite.
  void Take(ValueId y, int64_t channel, float number, int32_t spare = 0) {
    const std::vector<int32_t>& channels = groups_.of_value[y.index()];
    if (channels.empty() || number == 0 || !std::isfinite(number)) return;
    int32_t& bound = octaves[static_cast<size_t>(channels[static_cast<size_t>(channel)])];
    int exponent = 0;
    std::frexp(number, &exponent);  // |number| < 2^exponent
    bound = std::clamp(kMaxExponent - exponent - spare, 0, bound);
  }

  // `number` is scaled with channel `channel` of y, which holds at most `bound`.
  void TakeBounded(ValueId y, int64_t channel, float number, float bound) {
    const std::vector<int32_t>& channels = groups_.of_value[y.index()];
    if (channels.empty() || number <= 0 || !std::isfinite(bound)) return;
    int32_t& most = octaves[static_cast<size_t>(channels[static_cast<size_t>(channel)])];
    const int32_t below = std::ilogb(bound / number);  // number 2^below <= bound
    most = std::clamp(below - kBoundOctaves, 0, most);
  }

  // Constant `input` of the node: its last dimension are the channels of y, or it is one number for
  // all of them.
  void TakeChannels(const Node& node, size_t input) {
    if (input >= node.inputs.size() || !node.inputs[input].valid()) return;
    const Value& value = graph_.value(node.inputs[input]);
    const ValueId y = node.outputs[0];
    const auto channels = static_cast<int64_t>(groups_.of_value[y.index()].size());
    if (!value.is_constant() || value.dtype != DType::kF32 || channels == 0) return;
    const std::span<const float> numbers = value.constant->As<float>();
    const auto count = static_cast<int64_t>(numbers.size());
    for (int64_t i = 0; i < std::max(count, count == 1 ? channels : 0); ++i)
      Take(y, i % channels, numbers[static_cast<size_t>(i % count)]);
  }

  void TakeProduct(const ProductWeights& product, const Node& node) {
    const std::span<const float> weights = graph_.value(product.weights).constant->As<float>();
    for (int64_t o = 0; o < product.outputs; ++o) {
      float largest = 0;
      product.ForEachInput(weights, o, [&](int64_t, std::span<const float> taps) {
        for (const float w : taps) largest = std::max(largest, std::fabs(w));
      });
      Take(product.y, o, largest);
    }
    TakeChannels(node, 2);
  }

  std::vector<int32_t> octaves;  // by group

 private:
  const Graph& graph_;
  const ChannelGroups& groups_;
};

// Infinity where there is none.
float UpperBound(const Op& op) {
  return std::visit(
      [](const auto& of) {
        if constexpr (requires { of.clamp.hi; }) return static_cast<float>(of.clamp.hi);
        return std::numeric_limits<float>::infinity();
      },
      op);
}

}  // namespace

std::vector<int32_t> Headroom(const Graph& graph, const ChannelGroups& groups,
                              const MeasuredChannels& measured) {
  Bounds bounds(graph, groups);
  for (const Node& node : graph.nodes()) {
    if (const std::optional<ProductWeights> product = ReadProduct(graph, node)) {
      bounds.TakeProduct(*product, node);
    } else if (std::holds_alternative<Binary>(node.op) ||
               std::holds_alternative<LayerNorm>(node.op) ||
               std::holds_alternative<InstanceNorm>(node.op)) {
      for (size_t i = 0; i < node.inputs.size(); ++i) bounds.TakeChannels(node, i);
    }
  }
  for (const Node& node : graph.nodes()) {
    const auto found = measured.find(graph.value(node.outputs[0]).name);
    if (found == measured.end()) continue;
    const std::vector<float>& peak = found->second.peak;
    for (size_t c = 0; c < peak.size(); ++c)
      bounds.TakeBounded(node.outputs[0], static_cast<int64_t>(c), peak[c], UpperBound(node.op));
  }
  for (const auto& [name, ranges] : measured) {
    const ValueId id = graph.FindValue(name);
    for (size_t c = 0; id.valid() && c < ranges.peak.size(); ++c)
      bounds.Take(id, static_cast<int64_t>(c), ranges.peak[c], kSpareOctaves);
  }
  return std::move(bounds.octaves);
}

}  // namespace rshift
