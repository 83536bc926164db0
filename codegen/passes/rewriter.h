// A graph written anew node by node, as the passes from graph to graph do it: what a pass leaves
// alone is copied.
#ifndef RSHIFT_CODEGEN_PASSES_REWRITER_H_
#define RSHIFT_CODEGEN_PASSES_REWRITER_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_names.h"
#include "graph/graph.h"

namespace rshift {

// "old" and "new" are ids of the graph that is read and of the one that is written.
class GraphRewriter {
 public:
  explicit GraphRewriter(const Graph& old);  // must outlive the rewriter

  const Graph& old() const { return old_; }
  const Value& OldInput(const Node& node, size_t index) const;
  const Value& OldOutput(const Node& node) const { return old_.value(node.outputs[0]); }

  // The new value that stands for an old one: the same under the same name. Also what a node
  // writes.
  ValueId Same(ValueId old);
  // A new value of the type of `like` (old), with its constant; its name is like's and `suffix`.
  ValueId Temporary(ValueId like, const std::string& suffix, const Shape& shape,
                    Layout layout = Layout::kNhwc);
  // The weights of a node in another form, [channels ...]: channel c has the scale of the old
  // channel c modulo the number of those.
  ValueId Weights(const Node& node, const std::string& suffix, const Shape& shape,
                  std::span<const int8_t> bytes);

  void AddNode(const std::string& name, Op op, std::vector<ValueId> inputs, ValueId output);
  // A node that moves the bytes of x (new) into a new value of x's type. Its name is the node's and
  // `suffix`, the value's that of `named` (old) and `suffix`.
  ValueId Move(const Node& node, const std::string& suffix, Op op, ValueId x, ValueId named,
               const Shape& shape, Layout layout = Layout::kNhwc);
  void Copy(const Node& node);
  // Binds the outputs. The rewriter is used up.
  Graph Finish();

 private:
  const Graph& old_;
  Graph new_;
  std::vector<ValueId> same_;  // by old value; invalid where not made
  std::vector<int> uses_;      // by old value: how many inputs of nodes it is
  UniqueNames names_;
};

// Every node for which `rewrite` does nothing and returns false is copied.
Graph RewriteNodes(const Graph& graph,
                   const std::function<bool(GraphRewriter&, const Node&)>& rewrite);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_REWRITER_H_
