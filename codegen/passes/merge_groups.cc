#include "codegen/passes/merge_groups.h"

#include <utility>

#include "codegen/passes/conv_cost.h"
#include "codegen/passes/rewriter.h"

namespace rshift {
namespace {

// Of a pixel.
int64_t CostOf(const ConvForms& forms, int64_t groups, const Shape& w, int64_t together) {
  return groups / together *
         PixelCost(forms, w[0] / groups * together, w[2] * w[3], w[1] * together);
}

bool MergeGroupsOf(GraphRewriter& rewriter, const Node& node, const ConvForms& forms) {
  const auto* op = std::get_if<QConv>(&node.op);
  if (op == nullptr || op->groups == 1) return false;
  const Value& w = rewriter.OldInput(node, 1);
  if (w.shape[1] == 1 && w.shape[0] == op->groups) return false;  // depthwise
  const int64_t together = GroupsPerCommand(forms, op->groups, w.shape);
  if (together == 1) return false;
  const std::vector<int8_t> joined =
      JoinGroups(w.constant->As<int8_t>(), w.shape, op->groups, together, op->zero_w);
  QConv conv = *op;
  conv.groups /= together;
  Shape shape = w.shape;
  shape[1] *= together;
  const ValueId x = rewriter.Same(node.inputs[0]);
  std::vector<ValueId> inputs = {x, rewriter.Weights(node, "", shape, joined)};
  for (size_t i = 2; i < node.inputs.size(); ++i) inputs.push_back(rewriter.Same(node.inputs[i]));
  const ValueId y = rewriter.Same(node.outputs[0]);
  rewriter.AddNode(node.name, std::move(conv), std::move(inputs), y);
  return true;
}

}  // namespace

Graph MergeGroups(const Graph& graph, const ConvForms& forms) {
  return RewriteNodes(graph, [&](GraphRewriter& rewriter, const Node& node) {
    return MergeGroupsOf(rewriter, node, forms);
  });
}

int64_t GroupsPerCommand(const ConvForms& forms, int64_t groups, const Shape& weights) {
  int64_t best = 1;
  for (int64_t together = 2; together <= groups; ++together) {
    if (groups % together != 0) continue;
    if (CostOf(forms, groups, weights, together) < CostOf(forms, groups, weights, best)) {
      best = together;
    }
  }
  return best;
}

std::vector<int8_t> JoinGroups(std::span<const int8_t> weights, const Shape& shape, int64_t groups,
                               int64_t together, std::span<const int32_t> fill) {
  const int64_t own = shape[1] * shape[2] * shape[3], per_group = shape[0] / groups;
  std::vector<int8_t> result;
  result.reserve(weights.size() * static_cast<size_t>(together));
  for (int64_t oc = 0; oc < shape[0]; ++oc) {
    const auto zero = static_cast<int8_t>(fill.empty() ? 0 : fill[oc]);
    const int64_t before = oc / per_group % together;
    const auto first = weights.begin() + oc * own;
    result.insert(result.end(), before * own, zero);
    result.insert(result.end(), first, first + own);
    result.insert(result.end(), (together - 1 - before) * own, zero);
  }
  return result;
}

}  // namespace rshift
