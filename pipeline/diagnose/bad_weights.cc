#include "pipeline/diagnose/bad_weights.h"

#include <cmath>
#include <set>
#include <variant>

namespace rshift {
namespace {

template <typename... Ops>
bool IsOneOf(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

// The dimension of a constant that counts output channels.
size_t ChannelAxis(const Op& op, size_t rank) {
  if (std::holds_alternative<MatMul>(op)) return rank - 1;
  return std::holds_alternative<ConvTranspose>(op) && rank > 1 ? 1 : 0;
}

BadWeight CountBad(const Node& node, const Value& value, bool infinities) {
  BadWeight bad{.node = node.name, .op = OpName(node.op), .tensor = value.name};
  const size_t rank = value.shape.size();
  const size_t axis = rank == 0 ? 0 : ChannelAxis(node.op, rank);
  int64_t inner = 1;
  for (size_t d = axis + 1; d < rank; ++d) inner *= value.shape[d];
  const int64_t channels = rank == 0 ? 1 : value.shape[axis];
  std::set<int64_t> found;
  const auto values = value.constant->As<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const bool nan = std::isnan(values[i]), inf = infinities && std::isinf(values[i]);
    if (!nan && !inf) continue;
    ++(nan ? bad.nans : bad.infinities);
    found.insert(static_cast<int64_t>(i) / inner % channels);
  }
  bad.channels = static_cast<int64_t>(found.size());
  bad.channel = found.empty() ? 0 : *found.begin();
  return bad;
}

}  // namespace

std::vector<BadWeight> FindBadWeights(const Graph& model) {
  std::vector<BadWeight> found;
  for (const Node& node : model.nodes()) {
    const bool weights =
        IsOneOf<Conv, ConvTranspose, MatMul, BatchNorm, LayerNorm, InstanceNorm>(node.op);
    for (const ValueId input : node.inputs) {
      if (!input.valid() || !model.value(input).is_constant()) continue;
      if (model.value(input).dtype != DType::kF32) continue;
      const BadWeight bad = CountBad(node, model.value(input), weights);
      if (bad.channels > 0) found.push_back(bad);
    }
  }
  return found;
}

}  // namespace rshift
