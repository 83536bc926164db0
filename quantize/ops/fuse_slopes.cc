#include "quantize/ops/fuse_slopes.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "quantize/ops/ops.h"
#include "quantize/ops/product_reader.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

bool IsFactor(float slope) { return slope >= 0 && std::isfinite(slope); }

// One, or one for each channel; empty for any other operator, or slopes that are no factors of
// accumulators below 0.
std::vector<float> SlopesOf(const Graph& graph, const Node& node) {
  std::vector<float> slopes;
  if (const auto* leaky = std::get_if<LeakyRelu>(&node.op)) {
    slopes = {leaky->alpha};
  } else if (std::holds_alternative<PRelu>(node.op)) {
    const Value& value = graph.value(node.inputs[1]);
    if (!value.is_constant() || value.dtype != DType::kF32) return {};
    if (NumElements(value.shape) != 1 && !IsSlopeOfChannel(graph, node)) return {};
    const std::span<const float> numbers = value.constant->As<float>();
    slopes.assign(numbers.begin(), numbers.end());
  }
  const bool factors = std::all_of(slopes.begin(), slopes.end(), IsFactor);
  return factors ? slopes : std::vector<float>();
}

}  // namespace

void FindSlopes(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                const QuantizeOptions& options, const std::set<size_t>& others,
                PostOpPlan* post_ops) {
  for (const auto [n, r] : FindProductReaders(graph, plan, types, options, others, *post_ops)) {
    const Node& reader = graph.nodes()[r];
    std::vector<float> slopes = SlopesOf(graph, reader);
    if (slopes.empty()) continue;
    FusedPostOps fused;
    fused.y = reader.outputs[0];
    fused.slopes = std::move(slopes);
    post_ops->of[n] = std::move(fused);
    post_ops->taken.insert(r);
  }
}

void TakePostOpsAsSlopes(const Graph& graph, const QuantizeOptions& options, PostOpPlan* post_ops) {
  if (!options.target.negative_multipliers) return;
  for (auto& [n, fused] : post_ops->of) {
    const Node& node = graph.nodes()[n];
    const Clamp* clamp = ClampOfProduct(graph, node);
    if (clamp == nullptr || clamp->active() || fused.real || fused.addend.valid() ||
        fused.ops.size() != 1 ||
        !ArithmeticOf(ProfileOf(graph, node, options.config, options.profile)).ScalesBelowZero())
      continue;
    const RealPostOp& op = fused.ops[0];
    std::vector<float> slopes;
    if (op.kind == PostOpKind::kRelu) slopes = {op.alpha};
    if (op.kind == PostOpKind::kChannelRelu) slopes = op.alphas;
    if (slopes.empty() || !std::all_of(slopes.begin(), slopes.end(), IsFactor)) continue;
    fused.slopes = std::move(slopes);
    fused.ops.clear();
  }
}

}  // namespace rshift
