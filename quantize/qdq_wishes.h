// Of a model with its own quantization: the type in which the readers of an f32 value want it.
#ifndef RSHIFT_QUANTIZE_QDQ_WISHES_H_
#define RSHIFT_QUANTIZE_QDQ_WISHES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/types.h"

namespace rshift {

// Integers of 8 bits; with `int16` of 16 bits as well.
bool HoldsIntegers(const Value& value, bool int16);
IntType TypeOfIntegers(const Value& value);  // of a value that holds them

// The type, or what is in the way.
struct Wish {
  std::optional<IntType> type;
  std::string why;
};

class Wishes {
 public:
  // The graph must outlive it. int16: whether 16-bit integers are held as such.
  Wishes(const Graph& graph, bool int16)
      : graph_(graph), int16_(int16), consumers_(graph.Consumers()) {}

  // Every reader is a Quantize with the same parameters, or moves what it is given to such ones: q
  // is monotonic, so that what a node moves may be quantized before it.
  const Wish& Of(ValueId y);
  // The Quantize among the readers of `y` that gives `type`; null: there is none.
  const Node* QuantizeOf(ValueId y, const IntType& type) const;

 private:
  Wish Find(ValueId y);
  Wish OfReader(const Node& reader, bool alone);

  const Graph& graph_;
  const bool int16_;
  const std::vector<std::vector<NodeId>> consumers_;
  std::map<ValueId, Wish> known_;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_QDQ_WISHES_H_
