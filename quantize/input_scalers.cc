#include "quantize/input_scalers.h"

#include <algorithm>
#include <cmath>

#include "quantize/ranges/equalization.h"
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

// The largest of |y / x|.
float LargestFactor(const Value& constant, BinaryOp op) {
  float largest = 0;
  for (const float c : constant.constant->As<float>()) {
    const float factor = std::fabs(op == BinaryOp::kDiv ? 1 / c : c);
    if (std::isfinite(factor)) largest = std::max(largest, factor);
  }
  return largest;
}

// The largest magnitude in an entry's range; 0: there is none.
float Reach(const Graph& graph, const CalibrationTable& table, ValueId id) {
  const TensorRange* range = table.Find(graph.value(id).name);
  return range == nullptr ? 0 : std::max(std::fabs(range->low), std::fabs(range->high));
}

}  // namespace

std::vector<bool> InputScalers(const Graph& graph, const CalibrationTable& table,
                               const std::set<std::string>& integer_inputs) {
  std::vector<bool> scalers(graph.nodes().size(), false);
  const std::vector<std::vector<NodeId>> consumers = graph.Consumers();
  for (const ValueId input : graph.inputs) {
    const Value& value = graph.value(input);
    if (value.dtype != DType::kF32 || integer_inputs.contains(value.name)) continue;
    std::vector<size_t> chain;
    size_t last = 0;  // of the chain: behind the last one that is no movement
    bool unlike = false;
    float step = Reach(graph, table, input);  // what the largest factors make of it
    for (ValueId x = input; consumers[x.index()].size() == 1 && !graph.IsOutput(x);) {
      const NodeId reader = consumers[x.index()][0];
      const Node& node = graph.node(reader);
      const Value* constant = ConstantBeside(graph, node, x);
      if (constant == nullptr && !MovesInput(graph, node)) break;
      chain.push_back(static_cast<size_t>(reader.index()));
      if (constant != nullptr) {
        const BinaryOp op = std::get<Binary>(node.op).op;
        if (op == BinaryOp::kMul || op == BinaryOp::kDiv) step *= LargestFactor(*constant, op);
        const float behind = Reach(graph, table, node.outputs[0]);
        unlike |= behind > 0 && step >= kStepsOfResult * behind;
        unlike |= graph.value(node.outputs[0]).name.ends_with(kEqualizedSuffix);
        last = chain.size();
      }
      x = node.outputs[0];
    }
    for (size_t i = 0; i < last && unlike; ++i) scalers[chain[i]] = true;
  }
  return scalers;
}

}  // namespace rshift
