// What an import function sees of one ONNX node: its attributes, its inputs with their static
// shapes, and ways to emit graph nodes in its place. A node whose inputs are all constant is
// executed at once and leaves a constant behind.
#ifndef RSHIFT_GRAPH_ONNX_NODE_H_
#define RSHIFT_GRAPH_ONNX_NODE_H_

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/unique_names.h"
#include "graph/fold/limits.h"
#include "graph/graph.h"
#include "graph/onnx/proto.h"
#include "graph/onnx/tensor.h"

namespace rshift {

// A dimension whose size depends on the data: the values have room for the most that there can be,
// the s64 [1] value `count` says how many count.
struct BoundedDim {
  int64_t axis = 0;
  ValueId count;
};

// Everything known while the nodes of a model are imported one after the other.
struct ImportState {
  Graph graph;
  const onnx::ModelProto* model = nullptr;  // for its functions
  int64_t opset = 0;                        // of the nodes that are being imported
  int64_t body_nodes = 0;                   // of subgraphs and functions, imported so far
  int body_depth = 0;                       // of subgraphs in subgraphs
  std::unordered_map<const onnx::TensorProto*, ValueId> body_constants;  // initializers of bodies
  ExternalData external;
  std::unordered_set<std::string> nibbles;  // constants of 4-bit integers, held in 8 bits
  std::unordered_set<std::string> centred;  // integers of u16 less 32768, held as s16
  std::unordered_map<std::string, ValueId>
      values;                                 // by ONNX name; absent: behind an unsupported node
  std::unordered_map<std::string, int> uses;  // readers of each ONNX name, graph outputs included
  std::unordered_map<int32_t, BoundedDim> bounded;            // by value
  std::unordered_map<std::string, std::string> public_names;  // of outputs, where they differ
  UniqueNames names;                                          // of all values, ONNX ones and ours
  FoldBudget budget;                                          // of executing constant nodes
};

class OnnxNode {
 public:
  OnnxNode(const onnx::NodeProto& proto, ImportState& state);

  const std::string& type() const { return proto_.op_type(); }
  // "conv_12 (Conv)": begins every message.
  const std::string& where() const { return where_; }
  const std::string& label() const { return label_; }
  const onnx::NodeProto& proto() const { return proto_; }
  ImportState& state() { return state_; }
  int64_t opset() const { return state_.opset; }

  // Attributes. Each throws kInvalidInput when the attribute is there with another type.
  bool HasAttribute(const char* name) const { return Find(name) != nullptr; }
  int64_t Int(const char* name, int64_t fallback) const;
  // Throws kInvalidInput for an infinity or NaN.
  float Float(const char* name, float fallback) const;
  float AnyFloat(const char* name, float fallback) const;
  std::string String(const char* name, const char* fallback) const;
  std::vector<int64_t> Ints(const char* name) const;         // empty when absent
  std::vector<float> Floats(const char* name) const;         // empty when absent
  std::vector<std::string> Strings(const char* name) const;  // empty when absent
  Value Tensor(const char* name) const;                      // throws when absent
  const onnx::GraphProto& Body(const char* name) const;      // a subgraph; throws when absent

  // Inputs. References into the graph die with the next Emit.
  int InputCount() const { return proto_.input_size(); }
  bool HasInput(int i) const { return i < proto_.input_size() && !proto_.input(i).empty(); }
  ValueId Input(int i) const;  // throws kInvalidInput when it is missing
  Shape ShapeOf(int i) const { return At(Input(i)).shape; }
  DType TypeOf(int i) const { return At(Input(i)).dtype; }
  const Value& At(ValueId id) const { return state_.graph.value(id); }
  // Throws kUnsupported unless input i is f32.
  void RequireFloat(int i) const;
  // Elements of a constant input. `role` ("axes") is for the message; throws kUnsupported when the
  // input is computed from the model's input.
  std::vector<int64_t> ConstantInts(int i, const char* role) const;
  std::vector<float> ConstantFloats(int i, const char* role) const;
  // Input i where there is one, else the attribute; empty when neither is there.
  std::vector<int64_t> IntsFrom(int i, const char* name) const;

  // Outputs.
  int OutputCount() const { return proto_.output_size(); }
  // Somebody reads output i.
  bool OutputUsed(int i) const;
  // Throws kUnsupported when output i is read.
  void RefuseOutput(int i, const char* role) const;

  // A new node whose result has a name derived from output 0.
  ValueId Emit(Op op, std::vector<ValueId> inputs, DType type, Shape shape);
  // The node that makes output i.
  void Output(Op op, std::vector<ValueId> inputs, DType type, Shape shape, int i = 0);
  // The parameters of a tensor of bytes, which belong to it, not to its reader: throws kUnsupported
  // when it has others already.
  void SetQuant(ValueId id, const QuantParams& params);
  void SetOutputQuant(const QuantParams& params);  // of output 0
  // Of a tensor by name, where it is s8: Value::keeps_sign.
  void KeepSign(const std::string& name);
  // Of output 0: Value::shifts_operands.
  void SetShiftsOperands();
  // Output i is this constant.
  void OutputConstant(Value constant, int i = 0);

  // Of an activation whose size depends on the data (bounded.h); null for others.
  const BoundedDim* Bounded(ValueId id) const;
  void Bound(ValueId id, int64_t axis, ValueId count);

  // Shorthands for Emit.
  ValueId Reshaped(ValueId id, const Shape& shape);  // id itself when it has that shape
  ValueId Broadcasted(BinaryOp op, ValueId a, ValueId b);
  ValueId Applied(UnaryOp op, ValueId x);
  ValueId Converted(ValueId id, DType to);  // id itself when it has that type
  ValueId Scalar(float value, DType type = DType::kF32);
  ValueId Add(Value constant);  // under a name derived from output 0
  void OutputBinary(BinaryOp op, ValueId a, ValueId b);
  void OutputReshaped(ValueId id, const Shape& shape);

  // axis in [-rank, rank) -> [0, rank); throws kInvalidInput.
  int64_t Axis(int64_t axis, size_t rank) const;
  // The same for a list: ascending, without duplicates.
  std::vector<int64_t> Axes(std::vector<int64_t> axes, size_t rank) const;

  template <typename... Args>
  [[noreturn]] void Invalid(const Args&... args) const {
    Fail(ErrorCode::kInvalidInput, where_, ": ", args...);
  }
  template <typename... Args>
  [[noreturn]] void Unsupported(const Args&... args) const {
    Fail(ErrorCode::kUnsupported, where_, ": ", args...);
  }
  template <typename... Args>
  void Check(bool ok, const Args&... args) const {
    if (!ok) Invalid(args...);
  }
  template <typename... Args>
  void CheckSupported(bool ok, const Args&... args) const {
    if (!ok) Unsupported(args...);
  }

 private:
  const onnx::AttributeProto* Find(const char* name) const;
  const onnx::AttributeProto* Find(const char* name, int type, const char* type_name) const;
  ValueId Make(Op op, std::vector<ValueId> inputs, Value result);
  // Throws kUnsupported for a convolution, product or pool of nothing: no command computes it.
  void CheckNotEmpty(const Op& op, const std::vector<ValueId>& inputs, const Shape& result) const;
  // The elements of the result when all inputs are constant, else null. Throws kUnsupported beyond
  // the limits of fold/limits.h.
  std::shared_ptr<const ConstantData> Fold(const Op& op, const std::vector<ValueId>& inputs,
                                           DType type, const Shape& shape) const;

  const onnx::NodeProto& proto_;
  ImportState& state_;
  std::string label_;  // node name, or its first output's
  std::string where_;
};

// Elements of an integer or bool constant as int64, of a float one as float.
std::vector<int64_t> IntElements(const Value& constant);
std::vector<float> FloatElements(const Value& constant);

// ONNX node name, or its first output's name.
std::string NodeLabel(const onnx::NodeProto& node);

using ImportFunction = void (*)(OnnxNode&);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_NODE_H_
