// Rebuilds a graph while it decides, value by value, in which element orders a tensor exists.
// Transposes are made only when an operator asks for an order that is not there yet; Reshape and
// Transpose nodes of the old graph make no node of their own, they only give the same memory
// another reading.
#ifndef RSHIFT_GRAPH_PASSES_LAYOUT_BUILDER_H_
#define RSHIFT_GRAPH_PASSES_LAYOUT_BUILDER_H_

#include <string>
#include <vector>

#include "base/unique_names.h"
#include "graph/graph.h"
#include "graph/passes/layout_order.h"

namespace rshift {

// One way a tensor exists in the new graph.
struct Form {
  ValueId id;
  ElementOrder order;
};

class LayoutBuilder {
 public:
  // Adds the graph's inputs and constants. Every value must be plain.
  explicit LayoutBuilder(const Graph& old);

  const Graph& old() const { return old_; }
  const Shape& OldShape(ValueId id) const { return old_.value(id).shape; }

  // The new value that holds old value `id` in ONNX order, in NHWC (rank 4), or, for broadcasting,
  // in NHWC as if its ONNX shape were `shape`. An invalid id (omitted input) stays invalid.
  ValueId Plain(ValueId id);
  ValueId Nhwc(ValueId id) { return NhwcAs(id, OldShape(id)); }
  ValueId NhwcAs(ValueId id, const Shape& shape);
  // The form the tensor was made in.
  const Form& Native(ValueId id) const { return forms_of(id).front(); }
  // Whether that order exists or costs only a Reshape.
  bool IsFree(ValueId id, const ElementOrder& order) const;
  bool IsPlainFree(ValueId id) const { return IsFree(id, ElementOrderOfPlain(id)); }
  bool IsNhwcFree(ValueId id) const;  // of rank 4, else false
  // The value lives in NHWC, and reading it as plain would move data.
  bool PrefersNhwc(ValueId id) const;

  // `to` is `from` with the same elements in the same ONNX order; or transposed. No node is made
  // yet.
  void AddReshape(ValueId from, const Node& node);
  void AddTranspose(ValueId from, const Node& node);

  // A new value for old value `id`, written by a node: memory dimension i is ONNX dimension perm[i]
  // of its shape. It bears the ONNX name unless its memory order cannot be told from its layout.
  ValueId Define(ValueId id, const Perm& perm);
  ValueId DefinePlain(ValueId id);
  // Same memory as `like`, in the same order.
  ValueId DefineLike(ValueId id, const Form& like);

  // Appends a value that has no counterpart in the old graph.
  ValueId AddDerived(const std::string& base, Value value);
  ValueId AddNode(const std::string& name, Op op, std::vector<ValueId> inputs, ValueId output);
  // Registers another form of an old value.
  void AddForm(ValueId id, Form form) {
    storages_[storage_of_[id.index()]].push_back(std::move(form));
  }

  Graph Finish();
  Graph& graph() { return new_; }

 private:
  using Storage = std::vector<Form>;  // all forms of tensors that are reshapes of each other

  ElementOrder ElementOrderOfPlain(ValueId id) const;
  const Storage& forms_of(ValueId id) const { return storages_[storage_of_[id.index()]]; }
  ValueId Get(ValueId id, const Shape& shape, const ElementOrder& order, Layout layout);
  Form Materialize(ValueId id, const Form& from, const ElementOrder& to, Value value);
  ValueId Emit(ValueId id, const Form& from, const ElementOrder& movement, Value value);
  std::string TakeName(ValueId id, const char* suffix);
  void NewStorage(ValueId id, Storage storage);

  const Graph& old_;
  Graph new_;
  UniqueNames names_;            // of the old graph, and new ones
  std::vector<int> storage_of_;  // per old value
  std::vector<Storage> storages_;
  std::vector<bool> name_taken_;    // per old value
  std::vector<std::string> maker_;  // per old value: the node that made it
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_LAYOUT_BUILDER_H_
