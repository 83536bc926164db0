#include "quantize/qdq_wishes.h"

#include <utility>

#include "base/error.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {

bool HoldsIntegers(const Value& value, bool int16) {
  const bool bytes = value.dtype == DType::kS8 || value.dtype == DType::kU8;
  return (bytes || (int16 && value.dtype == DType::kS16)) && value.quant.has_value();
}

IntType TypeOfIntegers(const Value& value) {
  IntType type{value.dtype, *value.quant, {}, value.ranges};
  type.keeps_sign = value.keeps_sign;
  type.shifts_operands = value.shifts_operands;
  return type;
}

const Wish& Wishes::Of(ValueId y) {
  const auto found = known_.find(y);
  if (found != known_.end()) return found->second;
  Wish wish = Find(y);
  return known_.emplace(y, std::move(wish)).first->second;
}

Wish Wishes::Find(ValueId y) {
  if (graph_.IsOutput(y)) return {{}, "its result leaves the model in F32"};
  Wish wish{{}, "no QuantizeLinear behind it"};
  for (NodeId reader : consumers_[y.index()]) {
    Wish one = OfReader(graph_.node(reader), consumers_[y.index()].size() == 1);
    if (!one.type) return one;
    if (wish.type && *wish.type != *one.type) {
      return {{}, "the QuantizeLinear nodes behind it have different parameters"};
    }
    wish = std::move(one);
  }
  return wish;
}

// A Clip of integers is a clamp of them: its input may be held in its output's type, where nobody
// else reads it.
Wish Wishes::OfReader(const Node& reader, bool alone) {
  if (std::holds_alternative<Quantize>(reader.op)) {
    const Value& q = graph_.value(reader.outputs[0]);
    if (!HoldsIntegers(q, int16_))
      return {{}, Cat("the QuantizeLinear behind it gives integers of type ", Name(q.dtype))};
    return {TypeOfIntegers(q), ""};
  }
  const bool moves = std::holds_alternative<MaxPool>(reader.op) ||
                     std::holds_alternative<Concat>(reader.op) || MovesInput(graph_, reader);
  if (moves || (alone && std::holds_alternative<Clip>(reader.op))) return Of(reader.outputs[0]);
  return {{}, Cat("no QuantizeLinear behind it: ", reader.name, " reads its result in F32")};
}

const Node* Wishes::QuantizeOf(ValueId y, const IntType& type) const {
  for (NodeId reader : consumers_[y.index()]) {
    const Node& node = graph_.node(reader);
    const bool quantizes = std::holds_alternative<Quantize>(node.op);
    if (quantizes && TypeOfIntegers(graph_.value(node.outputs[0])) == type) return &node;
  }
  return nullptr;
}

}  // namespace rshift
