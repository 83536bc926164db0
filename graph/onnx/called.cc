// Standard operators that an import function calls in its own node's place.
#include <algorithm>

#include "graph/onnx/body.h"

namespace rshift {

NodeAttributes AttributesOf(const OnnxNode& node, const std::vector<std::string>& names) {
  NodeAttributes found;
  for (const auto& attribute : node.proto().attribute()) {
    if (std::find(names.begin(), names.end(), attribute.name()) != names.end()) {
      found.push_back(attribute);
    }
  }
  return found;
}

onnx::AttributeProto IntAttribute(const std::string& name, int64_t value) {
  onnx::AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
  return attribute;
}

onnx::AttributeProto IntsAttribute(const std::string& name, const std::vector<int64_t>& values) {
  onnx::AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute.add_ints(value);
  return attribute;
}

Expr Called(OnnxNode& node, const std::string& op_type, const std::vector<Expr>& inputs,
            const NodeAttributes& attributes) {
  onnx::GraphProto body;
  onnx::NodeProto& call = *body.add_node();
  call.set_op_type(op_type);
  call.set_name(op_type);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input_" + std::to_string(i);
    body.add_input()->set_name(name);
    call.add_input(inputs[i].id().valid() ? name : "");
  }
  call.add_output("output");
  body.add_output()->set_name("output");
  for (const auto& attribute : attributes) *call.add_attribute() = attribute;
  return ImportBody(node, body, "", inputs)[0];
}

}  // namespace rshift
