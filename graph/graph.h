// The model as typed SSA: values (tensors with static shapes) and nodes in topological order. Value
// semantics throughout: a pass takes a Graph and gives a Graph.
#ifndef RSHIFT_GRAPH_GRAPH_H_
#define RSHIFT_GRAPH_GRAPH_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"
#include "base/shape.h"
#include "base/strong_id.h"
#include "graph/op.h"
#include "isa/attributes.h"

namespace rshift {

struct ValueTag;
struct NodeTag;
using ValueId = StrongId<ValueTag>;
using NodeId = StrongId<NodeTag>;  // index into Graph::nodes(); valid until the node list changes

// Immutable, shared between graphs. Little-endian elements in row-major order of the value's shape.
struct ConstantData {
  std::vector<uint8_t> bytes;
  template <typename T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

template <typename T>
std::shared_ptr<const ConstantData> MakeConstant(std::span<const T> elements) {
  auto data = std::make_shared<ConstantData>();
  data->bytes.resize(elements.size_bytes());
  if (!elements.empty()) std::memcpy(data->bytes.data(), elements.data(), elements.size_bytes());
  return data;
}

// What a DequantizeLinear of constants read: a float constant that the model holds as integers
// keeps them, exactly (a bias of 2^31 has no exact float). Scales and zero points: one, or one per
// index of `axis`. A pass that changes the floats drops this or changes it alike.
struct QuantizedOrigin {
  DType dtype = DType::kS8;  // s8, u8, s16, u16 or s32; s64: a bias of TensorFlow Lite's 16x8
  int64_t axis = -1;         // of the value's shape; -1: one scale for all
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  std::shared_ptr<const ConstantData> integers;  // elements of dtype, in the value's order
  // A FakeQuantize whose zero points are no integers: the integers are those of a range around its
  // own (graph/level_reading.h), the value's elements are the FakeQuantize's.
  bool tuned = false;
  int bits = 8;  // of s8 and u8; 4: all are in [-8, 7], or [0, 15], a byte each
};

// The ends of the ranges that a FakeQuantize of 256 levels quantizes, one or one for each index of
// axis 1: what scales and zero points came from, for arithmetic that starts from the ends
// (quantize/NUMERICS.md section 24).
struct LevelRanges {
  std::vector<float> low, high;
};

struct Value {
  std::string name;  // unique; the ONNX name. A fused value bears the name of the last ONNX value
                     // it covers.
  DType dtype = DType::kF32;
  Shape shape;  // memory order
  Layout layout = Layout::kPlain;
  std::optional<QuantParams> quant;                 // integer graphs only
  std::shared_ptr<const ConstantData> constant;     // null for activations
  std::shared_ptr<const QuantizedOrigin> origin{};  // f32 constants of a QDQ model; integer weights
  // Of the bytes that a FakeQuantize makes, of the quotients by the scales of channels before them,
  // or of what it leaves where it does not round; null: unknown. They change no value: `quant` and
  // the nodes around say what the bytes are.
  std::shared_ptr<const LevelRanges> ranges{};
  // s8 that ONNX Runtime's kernels compute with as it is: operators with scales beside them, inputs
  // and outputs of the graph (quantize/NUMERICS.md section 13.6).
  bool keeps_sign = false;
  // s16 of a sum or difference whose operands TensorFlow Lite shifts, all scales being powers of
  // two (its pot_scale_int16; quantize/NUMERICS.md section 30).
  bool shifts_operands = false;
  bool is_constant() const { return constant != nullptr; }
};

struct Node {
  std::string name;  // the ONNX node name, or derived from it; for messages
  Op op;
  std::vector<ValueId> inputs;   // an invalid id stands for an omitted optional input
  std::vector<ValueId> outputs;  // one, for every operator so far
};

// An output whose size depends on the data: only as many elements along `axis` (of ONNX) count as
// the s64 in another output says.
struct OutputCut {
  int output = 0, count = 0;  // indices into Graph::outputs
  int64_t axis = 0;
};

class Graph {
 public:
  ValueId AddValue(Value value);
  // Appends; the caller keeps topological order (or calls SortTopologically).
  NodeId AddNode(Node node);

  const Value& value(ValueId id) const;
  Value& value(ValueId id);
  int value_count() const { return static_cast<int>(values_.size()); }
  const std::vector<Node>& nodes() const { return nodes_; }
  std::vector<Node>& nodes() { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id.index()]; }

  // Convenience: a constant value.
  template <typename T>
  ValueId AddConstant(std::string constant_name, DType dtype, Shape shape,
                      std::span<const T> elements) {
    return AddValue({std::move(constant_name), dtype, std::move(shape), Layout::kPlain,
                     std::nullopt, MakeConstant(elements)});
  }
  // `base`, or `base` with a suffix that makes it unique among the values.
  std::string UniqueName(const std::string& base) const;
  // Invalid id when there is none.
  ValueId FindValue(const std::string& value_name) const;

  // For each value: the node that makes it (invalid for inputs and constants).
  std::vector<NodeId> Producers() const;
  // For each value: the nodes that read it, in order, once per use. Graph outputs are not counted.
  std::vector<std::vector<NodeId>> Consumers() const;
  bool IsOutput(ValueId id) const;
  // Rewrites every use of `from` (inputs of nodes, graph outputs) to `to`.
  void ReplaceUses(ValueId from, ValueId to);
  // Drops nodes and values that no graph output needs (graph inputs stay) and renumbers the values.
  void RemoveUnused();
  // Stable: nodes keep their order where the data flow allows. Throws kInternal on a cycle.
  void SortTopologically();
  // Internal consistency (ids in range, order, one producer, unique names, constant sizes); throws
  // kInternal.
  void Check() const;

  std::string name;
  std::string sha256;  // of the ONNX file's bytes
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // Names under which the outputs leave the tool (an output may be the same value twice, or renamed
  // by a pass).
  std::vector<std::string> output_names;
  std::vector<OutputCut> output_cuts;

 private:
  std::vector<Value> values_;
  std::vector<Node> nodes_;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_GRAPH_H_
