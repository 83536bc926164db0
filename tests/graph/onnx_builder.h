// Writes small ONNX models for the import tests.
#ifndef RSHIFT_TESTS_GRAPH_ONNX_BUILDER_H_
#define RSHIFT_TESTS_GRAPH_ONNX_BUILDER_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "graph/import.h"
#include "graph/onnx/proto.h"
#include "tests/base/error_of.h"

namespace rshift::testing {

// {"axis", 1}, {"alpha", 0.5f}, {"mode", "linear"}, {"pads", {1, 1, 1, 1}}
struct Attribute {
  Attribute(const char* name, int value) {
    Name(name, onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  Attribute(const char* name, float value) {
    Name(name, onnx::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  Attribute(const char* name, const char* value) {
    Name(name, onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  Attribute(const char* name, std::initializer_list<int64_t> values) {
    Name(name, onnx::AttributeProto::INTS);
    for (int64_t v : values) proto.add_ints(v);
  }
  Attribute(const char* name, std::vector<float> values) {
    Name(name, onnx::AttributeProto::FLOATS);
    for (float v : values) proto.add_floats(v);
  }
  Attribute(const char* name, const onnx::TensorProto& tensor) {
    Name(name, onnx::AttributeProto::TENSOR);
    *proto.mutable_t() = tensor;
  }
  void Name(const char* name, onnx::AttributeProto::AttributeType type) {
    proto.set_name(name);
    proto.set_type(type);
  }
  onnx::AttributeProto proto;
};

inline onnx::TensorProto FloatTensor(const std::string& name, const Shape& shape,
                                     const std::vector<float>& values) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t d : shape) t.add_dims(d);
  for (float v : values) t.add_float_data(v);
  return t;
}

inline onnx::TensorProto IntTensor(const std::string& name, const Shape& shape,
                                   const std::vector<int64_t>& values) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::INT64);
  for (int64_t d : shape) t.add_dims(d);
  for (int64_t v : values) t.add_int64_data(v);
  return t;
}

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 13) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    graph().set_name("test");
  }
  onnx::GraphProto& graph() { return *model.mutable_graph(); }

  // A dimension of -1 becomes the symbol "N".
  ModelBuilder& Input(const std::string& name, const Shape& shape,
                      int type = onnx::TensorProto::FLOAT) {
    auto* input = graph().add_input();
    input->set_name(name);
    auto* tensor = input->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t d : shape) {
      auto* dim = tensor->mutable_shape()->add_dim();
      d < 0 ? dim->set_dim_param("N") : dim->set_dim_value(d);
    }
    return *this;
  }
  ModelBuilder& Floats(const std::string& name, const Shape& shape,
                       std::vector<float> values = {}) {
    if (values.empty()) values.assign(NumElements(shape), 0.5f);
    *graph().add_initializer() = FloatTensor(name, shape, values);
    return *this;
  }
  ModelBuilder& Ints(const std::string& name, const Shape& shape, std::vector<int64_t> values) {
    *graph().add_initializer() = IntTensor(name, shape, values);
    return *this;
  }
  ModelBuilder& Node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::vector<Attribute>& attributes = {}) {
    auto* node = graph().add_node();
    node->set_op_type(op);
    for (const auto& name : inputs) node->add_input(name);
    for (const auto& name : outputs) node->add_output(name);
    for (const auto& attribute : attributes) *node->add_attribute() = attribute.proto;
    return *this;
  }
  ModelBuilder& Output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }

  std::string Bytes() const { return model.SerializeAsString(); }
  rshift::Graph Import(const ImportOptions& options = {}) const {
    const std::string bytes = Bytes();
    return ImportOnnxBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "model",
                           options);
  }
  // The message of the error that Import throws, or kNoError.
  std::string ImportError(const ImportOptions& options = {}) const {
    return ErrorLinesOf([&] { Import(options); });
  }

  onnx::ModelProto model;
};

// The model of one node: x (and constants that the caller adds) -> y.
inline ModelBuilder OneNode(int opset, const Shape& x, const std::string& op,
                            const std::vector<std::string>& inputs,
                            const std::vector<Attribute>& attributes = {}) {
  ModelBuilder builder(opset);
  builder.Input("x", x).Node(op, inputs, {"y"}, attributes).Output("y");
  return builder;
}

inline const Value& OutputOf(const rshift::Graph& graph, int i = 0) {
  return graph.value(graph.outputs.at(i));
}

// "Reshape Softmax Reshape"
inline std::string OpsOf(const rshift::Graph& graph) {
  std::string ops;
  for (const auto& node : graph.nodes())
    ops += (ops.empty() ? "" : " ") + std::string(OpName(node.op));
  return ops;
}

template <typename T>
std::vector<T> Elements(const Value& value) {
  const auto span = value.constant->As<T>();
  return {span.begin(), span.end()};
}

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_GRAPH_ONNX_BUILDER_H_
