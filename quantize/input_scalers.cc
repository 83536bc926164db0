#include "quantize/input_scalers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

// The constant operand of a sum, difference, product or quotient of `x`; null: it is none.
const Value* ConstantBeside(const Graph& graph, const Node& node, ValueId x) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr) return nullptr;
  const bool either = binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kMul;
  const bool first = binary->op == BinaryOp::kSub || binary->op == BinaryOp::kDiv;
  if (!either && !(first && node.inputs[0] == x)) return nullptr;
  const Value& other = graph.value(node.inputs[node.inputs[0] == x ? 1 : 0]);
  return other.is_constant() && other.dtype == DType::kF32 ? &other : nullptr;
}

bool AreUnlike(const Value& factors) {
  float least = std::numeric_limits<float>::infinity(), most = 0;
  for (const float factor : factors.constant->As<float>()) {
    if (factor == 0 || !std::isfinite(factor)) continue;
    least = std::min(least, std::fabs(factor));
    most = std::max(most, std::fabs(factor));
  }
  return most >= kUnlikeFactors * least;
}

}  // namespace

std::vector<bool> InputScalers(const Graph& graph) {
  std::vector<bool> scalers(graph.nodes().size(), false);
  const std::vector<std::vector<NodeId>> consumers = graph.Consumers();
  for (const ValueId input : graph.inputs) {
    if (graph.value(input).dtype != DType::kF32) continue;
    std::vector<size_t> chain;
    size_t last = 0;  // of the chain: behind the last one that is no movement
    bool unlike = false;
    for (ValueId x = input; consumers[x.index()].size() == 1 && !graph.IsOutput(x);) {
      const NodeId reader = consumers[x.index()][0];
      const Node& node = graph.node(reader);
      const Value* constant = ConstantBeside(graph, node, x);
      if (constant == nullptr && !MovesInput(graph, node)) break;
      chain.push_back(static_cast<size_t>(reader.index()));
      if (constant != nullptr) {
        const BinaryOp op = std::get<Binary>(node.op).op;
        if (op == BinaryOp::kMul || op == BinaryOp::kDiv) unlike |= AreUnlike(*constant);
        last = chain.size();
      }
      x = node.outputs[0];
    }
    for (size_t i = 0; i < last && unlike; ++i) scalers[chain[i]] = true;
  }
  return scalers;
}

}  // namespace rshift
