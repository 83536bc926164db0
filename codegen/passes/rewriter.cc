#include "codegen/passes/rewriter.h"

#include <utility>

namespace rshift {

GraphRewriter::GraphRewriter(const Graph& old)
    : old_(old), same_(old.value_count()), uses_(old.value_count()) {
  new_.name = old.name;
  new_.sha256 = old.sha256;
  new_.output_names = old.output_names;
  new_.output_cuts = old.output_cuts;
  for (int i = 0; i < old.value_count(); ++i) names_.Reserve(old.value(ValueId(i)).name);
  for (const Node& node : old.nodes()) {
    for (const ValueId id : node.inputs) {
      if (id.valid()) ++uses_[id.index()];
    }
  }
  for (const ValueId id : old.inputs) new_.inputs.push_back(Same(id));
}

const Value& GraphRewriter::OldInput(const Node& node, size_t index) const {
  return old_.value(node.inputs[index]);
}

ValueId GraphRewriter::Same(ValueId old) {
  if (!old.valid()) return old;
  ValueId& made = same_[old.index()];
  if (!made.valid()) made = new_.AddValue(old_.value(old));
  return made;
}

ValueId GraphRewriter::Temporary(ValueId like, const std::string& suffix, const Shape& shape,
                                 Layout layout) {
  Value value = old_.value(like);
  value.name = names_.Take(value.name + suffix);
  value.shape = shape;
  value.layout = layout;
  return new_.AddValue(std::move(value));
}

ValueId GraphRewriter::Weights(const Node& node, const std::string& suffix, const Shape& shape,
                               std::span<const int8_t> bytes) {
  const ValueId old = node.inputs[1];
  Value value = old_.value(old);
  // Nobody reads the old weights any more: the new ones have their name.
  const bool replaced = suffix.empty() && uses_[old.index()] == 1;
  if (!replaced) value.name = names_.Take(value.name + suffix);
  value.shape = shape;
  value.constant = MakeConstant(bytes);
  if (value.origin != nullptr) {
    auto origin = std::make_shared<QuantizedOrigin>(*value.origin);
    const size_t own = origin->scales.size();
    origin->integers = value.constant;
    if (origin->axis == 0) {
      origin->scales.clear();
      origin->zero_points.assign(static_cast<size_t>(shape[0]), 0);
      for (int64_t c = 0; c < shape[0]; ++c) {
        origin->scales.push_back(value.origin->scales[static_cast<size_t>(c) % own]);
      }
    }
    value.origin = std::move(origin);
  }
  return new_.AddValue(std::move(value));
}

void GraphRewriter::AddNode(const std::string& name, Op op, std::vector<ValueId> inputs,
                            ValueId output) {
  new_.AddNode({name, std::move(op), std::move(inputs), {output}});
}

ValueId GraphRewriter::Move(const Node& node, const std::string& suffix, Op op, ValueId x,
                            ValueId named, const Shape& shape, Layout layout) {
  Value value = new_.value(x);
  value.name = names_.Take(old_.value(named).name + suffix);
  value.shape = shape;
  value.layout = layout;
  const ValueId made = new_.AddValue(std::move(value));
  AddNode(node.name + suffix, std::move(op), {x}, made);
  return made;
}

void GraphRewriter::Copy(const Node& node) {
  Node copy = node;
  for (ValueId& id : copy.inputs) id = Same(id);
  for (ValueId& id : copy.outputs) id = Same(id);
  new_.AddNode(std::move(copy));
}

Graph GraphRewriter::Finish() {
  for (const ValueId id : old_.outputs) new_.outputs.push_back(Same(id));
  new_.Check();
  return std::move(new_);
}

Graph RewriteNodes(const Graph& graph,
                   const std::function<bool(GraphRewriter&, const Node&)>& rewrite) {
  GraphRewriter rewriter(graph);
  for (const Node& node : graph.nodes()) {
    if (!rewrite(rewriter, node)) rewriter.Copy(node);
  }
  return rewriter.Finish();
}

}  // namespace rshift
