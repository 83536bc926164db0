// Gates of recurrent cells in an unrolled graph: sums of products with constant matrices, and the
// functions and operations around them.
#ifndef RSHIFT_QUANTIZE_OPS_RECURRENT_GATES_H_
#define RSHIFT_QUANTIZE_OPS_RECURRENT_GATES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "quantize/ops/recurrent.h"

namespace rshift {

using ValuePair = std::pair<ValueId, ValueId>;

// All dimensions but the last one.
int64_t RowsOf(const Shape& shape);

// Nodes of the graph by what they make. It refers to what it is made of.
class GateReader {
 public:
  GateReader(const Graph& graph, const QuantizationPlan& plan, const QuantizeConfig& config);

  size_t NodeOf(ValueId id) const { return static_cast<size_t>(producers_[id.index()].index()); }
  const Node* Producer(ValueId id) const;  // null: none

  // The node as an operator of that kind, in integers of the profile.
  template <typename T>
  const T* As(ValueId id) const {
    return IsInteger(id) ? std::get_if<T>(&Producer(id)->op) : nullptr;
  }

  std::optional<ValuePair> Operands(ValueId id, BinaryOp kind, bool may_clip = false) const;
  // What the function is applied to.
  ValueId Argument(ValueId id, UnaryOp kind) const;
  // A product of two values, of which the first is a function of that kind.
  std::optional<ValuePair> ProductWith(ValueId id, UnaryOp kind) const;

  // reset: where not null, one part may be a product with a sigmoid; that one.
  std::optional<GateSum> ReadGate(const RecurrentCell& cell, ValueId id,
                                  std::optional<ValuePair>* reset = nullptr) const;

 private:
  struct Part {  // of a value whose rows are all its dimensions but the last one
    int64_t row, rows, column, columns;
  };

  bool IsInteger(ValueId id) const;
  bool AddBias(const Value& value, const Part& part, GateSum* gate) const;
  bool AddProduct(const Node& node, const Part& part, GateSum* gate) const;
  bool AddParts(ValueId id, Part part, GateSum* gate, std::optional<ValuePair>* reset) const;

  const Graph& graph_;
  const QuantizationPlan& plan_;
  const QuantizeConfig& config_;
  const std::vector<NodeId> producers_;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_RECURRENT_GATES_H_
