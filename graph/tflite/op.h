// What a translating function sees of one TensorFlow Lite operator: its options, its tensors, and
// ways to write ONNX nodes in its place. Quantized tensors are written as ONNX does it: a function
// reads real numbers (DequantizeLinear is put before it) and gives real numbers (QuantizeLinear
// behind it).
#ifndef RSHIFT_GRAPH_TFLITE_OP_H_
#define RSHIFT_GRAPH_TFLITE_OP_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/unique_names.h"
#include "graph/onnx/proto.h"
#include "graph/onnx/tensor.h"
#include "graph/tflite/file.h"

namespace rshift::tflite {

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>>;
using OpAttributes = std::vector<std::pair<const char*, Attribute>>;
using Names = std::vector<std::string>;
// Elements of a list of integers; none for one that is known only when its dimension is bound.
using KnownInts = std::vector<std::optional<int64_t>>;

// A variable of the file, which keeps its contents between runs (variables.h).
struct Variable {
  std::string key = {};         // its name in the file
  std::string input = {};       // what it holds before a run; empty: never read
  std::string output = {};      // what it holds afterwards
  std::string holds = {};       // the value that it has after the operators so far
  int handle = -1;              // the tensor that stands for it
  int before = -1, after = -1;  // tensors of the types of input and output
};

// What is known while the operators of a file are translated one after the other.
struct Translation {
  const File& file;
  onnx::GraphProto& graph;
  UniqueNames names;
  Names tensor_names = {};                // of each tensor, unique
  std::vector<bool> computed = {};        // inputs of the model and results of operators
  std::vector<bool> stored = {};          // constants whose initializer is written
  std::map<int, std::string> reals = {};  // quantized tensors: their dequantized values
  std::vector<Variable> variables = {};
  std::map<int, size_t> handles = {};  // which of them a tensor stands for
  bool opens = false;  // --input-shape binds the dimensions that the file leaves open
  std::map<int, KnownInts> known = {};  // computed lists of integers (known_values.h)
  std::string begins_with_zeros = {};   // the first layer whose state lasts one run; "" for none
};

class OpWriter {
 public:
  OpWriter(const Call& call, Translation& state);

  // The options of the operator; the format's defaults where it has none.
  template <typename T>
  const T* Options() const {
    return op_.builtin_options_as<T>();
  }
  // Those of the format's second union, which StableHLO's operators have.
  template <typename T>
  const T* Options2() const {
    return op_.builtin_options_2_as<T>();
  }
  // The only operator of a subgraph that makes one number of two; none: it gives the second one.
  std::optional<BuiltinOperator> BodyOf(int subgraph) const;
  // The first `count` little-endian integers of a custom operator's options; throws kInvalidInput
  // where there are fewer.
  std::vector<int32_t> CustomOptions(size_t count) const;
  // All of its bytes; none where it has no options.
  std::span<const uint8_t> CustomBytes() const;

  // Inputs and outputs.
  int InputCount() const { return static_cast<int>(inputs_.size()); }
  int OutputCount() const { return static_cast<int>(outputs_.size()); }
  bool HasInput(int i) const { return i < InputCount() && inputs_[i] >= 0; }
  const Tensor& In(int i) const;  // throws kInvalidInput when it is missing
  const Tensor& Out(int i = 0) const { return state_.file.tensor(outputs_.at(i)); }
  // What the operator holds on the way, for its quantization; null: it has no such tensor.
  const Tensor* Intermediate(size_t i) const;
  Shape InShape(int i) const { return ShapeOf(In(i)); }
  Shape OutShape(int i = 0) const { return ShapeOf(Out(i)); }
  int InRank(int i) const { return static_cast<int>(InShape(i).size()); }
  bool IsConstant(int i) const { return HasInput(i) && !state_.computed[inputs_[i]]; }
  bool IsFloat(int i) const;

  // Names of ONNX values. Stored: the elements as they are in the file; Real: floats.
  std::string Stored(int i);
  std::string Real(int i);
  // Real of an s32 or s64 bias, which counts in units of the product of two other inputs' scales.
  std::string Bias(int i, int x, int w);
  // Elements of a list of integers that is constant, or follows from fixed sizes; `role` ("axes")
  // is for the message. The first `unread` elements may be open; they are 0 then.
  std::vector<int64_t> Ints(int i, const char* role, size_t unread = 0) const;
  // Whether Ints gives all of them.
  bool Knows(int i) const;
  // The only one of them.
  int64_t Int(int i, const char* role) const;
  // The only element of a constant of floats.
  float FloatOf(int i, const char* role) const;
  // The input as s64, where ONNX wants its lists so; need not be constant.
  std::string List(int i);
  int64_t Axis(int64_t axis, int rank) const;

  // A new node; the name of its only (or first) result.
  std::string Emit(const char* type, const Names& inputs, const OpAttributes& attributes = {});
  Names EmitMany(const char* type, const Names& inputs, int count, const OpAttributes& attributes);
  // The same of kTfliteDomain, for what ONNX does not have.
  std::string EmitOwn(const char* type, const Names& inputs, const OpAttributes& attributes = {});
  Names EmitManyOwn(const char* type, const Names& inputs, int count,
                    const OpAttributes& attributes);
  // A constant.
  std::string IntList(const std::vector<int64_t>& elements);
  std::string Scalar(int64_t element);
  std::string Float(float element);
  std::string FloatList(const std::vector<float>& elements);
  std::string Transposed(const std::string& x, const std::vector<int64_t>& order);
  std::string ToChannelsFirst(const std::string& x) { return Transposed(x, {0, 3, 1, 2}); }
  std::string ToChannelsLast(const std::string& x) { return Transposed(x, {0, 2, 3, 1}); }
  std::string Reshaped(const std::string& x, const std::vector<int64_t>& shape);
  std::string Activated(const std::string& x, ActivationFunctionType function);

  // Output i has this value: real numbers, or elements as the tensor stores them.
  void GiveReal(const std::string& x, int i = 0);
  // Of a sum, whose s16 operands TensorFlow Lite shifts: `pot_scale_int16` is the file's flag,
  // which counts where all scales are powers of two.
  void GiveSum(const std::string& x, bool pot_scale_int16);
  void GiveStored(const std::string& x, int i = 0);
  // Input i, a tensor that keeps its contents between runs (variables.h): what it holds before
  // the run as real numbers, and what it holds afterwards.
  std::string State(int i);
  void GiveState(int i, const std::string& x);
  // The layer's state begins with zeros in every run.
  void BeginWithZeros();
  // For operators that move elements: input i as stored where all outputs have its scale, else
  // real; Give is its counterpart.
  std::string Moved(int i);
  void GiveMoved(const std::string& x, int i = 0);

  // "conv_12 (CONV_2D)": begins every message.
  const std::string& where() const { return where_; }
  template <typename... Args>
  [[noreturn]] void Unsupported(const Args&... args) const {
    Fail(ErrorCode::kUnsupported, args...);
  }
  template <typename... Args>
  void CheckSupported(bool ok, const Args&... args) const {
    if (!ok) Unsupported(args...);
  }
  template <typename... Args>
  void Check(bool ok, const Args&... args) const {
    RSHIFT_REQUIRE(ok, ErrorCode::kInvalidInput, where_, ": ", args...);
  }

 private:
  onnx::TensorProto& AddInitializer(const std::string& name, int type, const Shape& shape);
  std::string QuantizedAs(const Tensor& tensor, const std::string& x, bool shifts_operands);
  void GiveQuantized(const std::string& x, int i, bool shifts_operands);
  // Throws where a constant list of integers has another type or size than a file may have.
  void CheckIntegers(int i, const std::string& what) const;
  std::string AddScales(const std::vector<float>& scales);
  std::string AddZeros(const Tensor& tensor, size_t count);
  std::string Dequantized(int tensor);
  std::string Fresh(const char* what) { return state_.names.Take(label_ + "/" + what); }

  const Operator& op_;
  Translation& state_;
  std::vector<int> inputs_, outputs_, intermediates_;
  std::string label_;  // name of the first output
  std::string where_;
  bool moves_stored_ = true;
};

using Translate = void (*)(OpWriter&);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_OP_H_
