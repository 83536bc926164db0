// What the translation of one layer sees: its attributes, the names of its tensors, constants among
// its inputs, and ways to write ONNX nodes in its place.
#ifndef RSHIFT_GRAPH_OPENVINO_LAYER_H_
#define RSHIFT_GRAPH_OPENVINO_LAYER_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/unique_names.h"
#include "graph/onnx/proto.h"
#include "graph/openvino/ir.h"

namespace rshift::openvino {

struct State {
  Net net;
  std::string bin_name;  // beside the .xml; "" without
  MappedFile bin;
  onnx::ModelProto model;
  UniqueNames names;
  std::vector<std::vector<std::string>> tensors;  // by layer and output
  // By layer: the same weights as one list of output channels, where the layer gives them in groups
  // (dequantize.cc).
  std::vector<std::string> flat;
};

class LayerNode {
 public:
  LayerNode(State& state, size_t index)
      : state_(state), index_(index), layer_(state.net.layers[index]) {}

  const Layer& layer() const { return layer_; }
  State& state() { return state_; }
  size_t index() const { return index_; }

  // --- attributes; each throws kInvalidInput when the text is not of that type
  bool Has(const char* key) const { return layer_.data.contains(key); }
  std::string Text(const char* key, const char* fallback) const;
  int64_t Int(const char* key, int64_t fallback) const;
  float Float(const char* key, float fallback) const;
  bool Flag(const char* key, bool fallback) const;
  std::vector<int64_t> Ints(const char* key) const;  // empty when absent

  // --- tensors
  size_t InputCount() const { return layer_.inputs.size(); }
  const std::string& In(size_t i) const;  // throws kInvalidInput when it is not there
  const std::string& Out(size_t i = 0) const { return state_.tensors[index_].at(i); }
  const std::vector<int64_t>& Dims(size_t i) const;  // of an input
  size_t Rank(size_t i) const { return Dims(i).size(); }
  const Layer& Producer(size_t i) const { return state_.net.layers[layer_.sources.at(i).layer]; }
  size_t ProducerIndex(size_t i) const { return layer_.sources.at(i).layer; }
  // The integers of an input that is a constant of type i32, i64, i8 or u8; nullopt otherwise.
  std::optional<std::vector<int64_t>> Integers(size_t i) const;
  // The same, or kUnsupported: `role` is for the message.
  std::vector<int64_t> RequireIntegers(size_t i, const char* role) const;

  // --- ONNX nodes. The last one writes Out(); the others Temporary().
  std::string Temporary(const char* what);
  onnx::NodeProto& Add(const char* op, std::vector<std::string> inputs, std::string output);
  onnx::NodeProto& Give(const char* op, std::vector<std::string> inputs) {
    return Add(op, std::move(inputs), Out());
  }
  std::string Then(const char* op, std::vector<std::string> inputs);  // into a temporary
  std::string IntConstant(const std::vector<int64_t>& elements, const char* what);
  std::string Scalar(float value, const char* what);

  template <typename... Args>
  [[noreturn]] void Unsupported(const Args&... args) const {
    Fail(ErrorCode::kUnsupported, Where(), ": ", args...);
  }
  template <typename... Args>
  void Check(bool ok, const Args&... args) const {
    if (!ok) Fail(ErrorCode::kInvalidInput, Where(), ": ", args...);
  }
  std::string Where() const;

 private:
  State& state_;
  const size_t index_;
  const Layer& layer_;
};

// Attributes of ONNX nodes.
void Set(onnx::NodeProto& node, const char* name, int64_t value);
void Set(onnx::NodeProto& node, const char* name, float value);
void Set(onnx::NodeProto& node, const char* name, const char* value);
void Set(onnx::NodeProto& node, const char* name, const std::vector<int64_t>& values);

// The bytes of a Const layer in the .bin. Throws kInvalidInput when they lie outside.
std::span<const uint8_t> ConstBytes(const State& state, const Layer& layer);
// "i8", "f32": the type of a Const layer, or what a Convert makes.
std::string TypeOf(const Layer& layer);
// The ONNX number of an IR type, 0 for one that ONNX does not have.
int OnnxType(const std::string& type);
// An initializer of the elements of a Const layer, in another shape or its own.
void AddInitializer(State& state, const Layer& layer, const std::string& name,
                    const std::vector<int64_t>& shape);
std::vector<int64_t> ParseInts(const std::string& text, const std::string& where);

using Translation = void (*)(LayerNode&);
struct Entry {
  const char* type;
  Translation translate;
};
// One list per family, each in the file of that name.
std::span<const Entry> ConvTranslations();
std::span<const Entry> EltwiseTranslations();
std::span<const Entry> MovementTranslations();
std::span<const Entry> NormTranslations();
std::span<const Entry> ReduceTranslations();

// Constant integers as Convert, Subtract and Multiply make reals of them: a DequantizeLinear, which
// keeps the integers. False where the Multiply is something else.
bool TranslateDequantize(LayerNode& multiply);

}  // namespace rshift::openvino

#endif  // RSHIFT_GRAPH_OPENVINO_LAYER_H_
