#include "codegen/passes/repeat_channels.h"

#include <utility>

#include "codegen/passes/rewriter.h"

namespace rshift {
namespace {

// Output channels of each group, where a group is one channel of x; else 1.
int64_t Repeats(const ConvForms& forms, const QConv& op, const Shape& w, const Shape& x) {
  const bool depthwise = op.groups > 1 && w[1] == 1 && x.size() == 4 && x[3] == op.groups;
  const int64_t repeats = w[0] / op.groups;
  return depthwise && repeats <= forms.repeat_channels ? repeats : 1;
}

// x with each channel `repeats` times.
ValueId Repeat(GraphRewriter& rewriter, const Node& node, int64_t repeats) {
  const Shape x = rewriter.OldInput(node, 0).shape;  // NHWC
  ValueId at = rewriter.Same(node.inputs[0]);
  const auto move = [&](const char* suffix, Op op, const Shape& shape, Layout layout) {
    at = rewriter.Move(node, suffix, std::move(op), at, node.outputs[0], shape, layout);
  };
  move("__apart", Reshape{}, {x[0], x[1], x[2], x[3], 1}, Layout::kPlain);
  move("__repeated", Expand{}, {x[0], x[1], x[2], x[3], repeats}, Layout::kPlain);
  move("__channels", Reshape{}, {x[0], x[1], x[2], x[3] * repeats}, Layout::kNhwc);
  return at;
}

bool RepeatChannelsOf(GraphRewriter& rewriter, const Node& node, const ConvForms& forms) {
  const auto* op = std::get_if<QConv>(&node.op);
  if (op == nullptr) return false;
  const int64_t repeats =
      Repeats(forms, *op, rewriter.OldInput(node, 1).shape, rewriter.OldInput(node, 0).shape);
  if (repeats == 1) return false;
  QConv conv = *op;
  conv.groups *= repeats;
  std::vector<ValueId> inputs = {Repeat(rewriter, node, repeats)};
  for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(rewriter.Same(node.inputs[i]));
  const ValueId y = rewriter.Same(node.outputs[0]);
  rewriter.AddNode(node.name, std::move(conv), std::move(inputs), y);
  return true;
}

}  // namespace

Graph RepeatChannels(const Graph& graph, const ConvForms& forms) {
  return RewriteNodes(graph, [&](GraphRewriter& rewriter, const Node& node) {
    return RepeatChannelsOf(rewriter, node, forms);
  });
}

}  // namespace rshift
