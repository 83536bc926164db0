#include "interop/onnx_writer.h"

#include <algorithm>

#include "base/error.h"
#include "base/version.h"
#include "graph/onnx/tensor.h"

namespace rshift {
namespace {

constexpr int64_t kIrVersion = 9, kOpset = 20;

void Describe(onnx::ValueInfoProto* value, const std::string& name, DType dtype,
              const Shape& shape) {
  value->set_name(name);
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(OnnxType(dtype));
  type->mutable_shape();
  for (const int64_t size : shape) type->mutable_shape()->add_dim()->set_dim_value(size);
}

onnx::AttributeProto* Attribute(onnx::NodeProto* node, const char* name, int type) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(static_cast<onnx::AttributeProto::AttributeType>(type));
  return attribute;
}

}  // namespace

OnnxWriter::OnnxWriter(const std::string& name) {
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name(kOnnxProducer);
  model_.set_producer_version(Version());
  model_.add_opset_import()->set_version(kOpset);
  model_.mutable_graph()->set_name(name.empty() ? "model" : name);
}

void OnnxWriter::AddInput(const std::string& name, DType dtype, const Shape& shape) {
  Describe(model_.mutable_graph()->add_input(), name, dtype, shape);
}

void OnnxWriter::AddOutput(const std::string& name, DType dtype, const Shape& shape) {
  Describe(model_.mutable_graph()->add_output(), name, dtype, shape);
}

std::string OnnxWriter::Floats(const std::string& name, const Shape& shape,
                               std::span<const float> numbers) {
  return Raw(name, onnx::TensorProto::FLOAT, shape,
             {reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size_bytes()});
}

std::string OnnxWriter::Integers(const std::string& name, const Shape& shape,
                                 std::span<const int64_t> numbers) {
  return Raw(name, onnx::TensorProto::INT64, shape,
             {reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size_bytes()});
}

std::string OnnxWriter::Raw(const std::string& name, int type, const Shape& shape,
                            std::span<const uint8_t> bytes) {
  const auto& known = model_.graph().initializer();
  if (std::any_of(known.begin(), known.end(), [&](const auto& t) { return t.name() == name; }))
    return name;
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t size : shape) tensor->add_dims(size);
  tensor->set_raw_data(bytes.data(), bytes.size());
  return name;
}

onnx::NodeProto* OnnxWriter::Node(const std::string& op, const std::vector<std::string>& inputs,
                                  const std::string& output) {
  auto* node = model_.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(output + "/" + op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

onnx::NodeProto* OnnxWriter::Node(const std::string& op, const char* domain,
                                  const std::vector<std::string>& inputs,
                                  const std::string& output) {
  const auto& imports = model_.opset_import();
  const bool known = std::any_of(imports.begin(), imports.end(),
                                 [&](const auto& import) { return import.domain() == domain; });
  if (!known) {
    auto* import = model_.add_opset_import();
    import->set_domain(domain);
    import->set_version(1);
  }
  auto* node = Node(op, inputs, output);
  node->set_domain(domain);
  return node;
}

void OnnxWriter::Set(onnx::NodeProto* node, const char* name, int64_t value) {
  Attribute(node, name, onnx::AttributeProto::INT)->set_i(value);
}

void OnnxWriter::Set(onnx::NodeProto* node, const char* name, float value) {
  Attribute(node, name, onnx::AttributeProto::FLOAT)->set_f(value);
}

void OnnxWriter::Set(onnx::NodeProto* node, const char* name, const char* value) {
  Attribute(node, name, onnx::AttributeProto::STRING)->set_s(value);
}

void OnnxWriter::Set(onnx::NodeProto* node, const char* name, std::span<const int64_t> values) {
  auto* attribute = Attribute(node, name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

std::string OnnxWriter::Finish() const {
  std::string bytes;
  RSHIFT_REQUIRE(model_.SerializeToString(&bytes), ErrorCode::kUnsupported,
                 "the model to write is larger than 2 GB, which one ONNX file cannot hold");
  return bytes;
}

}  // namespace rshift
