#include "quantize/ops/product_reader.h"

#include <algorithm>

#include "quantize/ops/ops.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

bool IsByte(const IntType& type) { return type.quant.scale > 0 && !type.is_s16(); }

// The node reads or writes a value in 16 bits.
bool HasInt16(const ValueTypes& types, const Node& node, size_t n) {
  if (types.int16.empty() || !types.reads_int16[n]) return false;
  const auto is = [&](ValueId id) { return id.valid() && types.int16[id.index()].quant.scale > 0; };
  return is(node.outputs[0]) || std::any_of(node.inputs.begin(), node.inputs.end(), is);
}

}  // namespace

const Clamp* ClampOfProduct(const Graph& graph, const Node& node) {
  if (const auto* conv = std::get_if<Conv>(&node.op)) return &conv->clamp;
  if (const auto* transposed = std::get_if<ConvTranspose>(&node.op)) return &transposed->clamp;
  const auto* matmul = std::get_if<MatMul>(&node.op);
  return matmul != nullptr && HasConstantMatrix(graph, node) ? &matmul->clamp : nullptr;
}

std::vector<ProductReader> FindProductReaders(const Graph& graph, const QuantizationPlan& plan,
                                              const ValueTypes& types,
                                              const QuantizeOptions& options,
                                              const std::set<size_t>& others,
                                              const PostOpPlan& post_ops) {
  std::vector<ProductReader> found;
  if (!options.target.negative_multipliers) return found;
  const auto is_free = [&](size_t n) {
    return plan.forms[n] == NodeForm::kInteger && !others.contains(n) && !post_ops.of.contains(n) &&
           !post_ops.taken.contains(n) && !HasInt16(types, graph.nodes()[n], n);
  };
  const auto is_byte = [&](ValueId id) { return IsByte(types.types[id.index()]); };
  const auto profile = [&](const Node& node) {
    return ProfileOf(graph, node, options.config, options.profile);
  };
  const auto consumers = graph.Consumers();
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const Clamp* clamp = ClampOfProduct(graph, node);
    if (clamp == nullptr || clamp->active() || !is_free(n)) continue;
    const ValueId middle = node.outputs[0];
    const auto& readers = consumers[middle.index()];
    if (readers.size() != 1 || graph.IsOutput(middle)) continue;
    const size_t r = readers[0].index();
    const Node& reader = graph.nodes()[r];
    if (reader.inputs[0] != middle || !is_free(r)) continue;
    if (!ArithmeticOf(profile(node)).ScalesBelowZero() || profile(node) != profile(reader))
      continue;
    if (is_byte(node.inputs[0]) && is_byte(middle) && is_byte(reader.outputs[0]))
      found.push_back({n, r});
  }
  return found;
}

}  // namespace rshift
