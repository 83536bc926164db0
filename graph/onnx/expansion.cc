#include "graph/onnx/expansion.h"

#include <algorithm>

#include "graph/onnx/body.h"

namespace rshift {

Expansion::Expansion(OnnxNode& node, int64_t opset) : node_(node), opset_(node.state().opset) {
  node.state().opset = opset;
}

Expansion::~Expansion() { node_.state().opset = opset_; }

std::string Expansion::In(int i) const {
  return node_.HasInput(i) ? node_.proto().input(i) : std::string();
}

Expansion& Expansion::Keep(std::initializer_list<const char*> names) {
  for (const auto& attribute : node_.proto().attribute()) {
    if (std::find(names.begin(), names.end(), attribute.name()) != names.end()) {
      *next_.add_attribute() = attribute;
    }
  }
  return *this;
}

Expansion& Expansion::KeepAll() {
  *next_.mutable_attribute() = node_.proto().attribute();
  return *this;
}

Expansion& Expansion::With(const char* name, int64_t value) {
  auto* attribute = next_.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
  return *this;
}

Expansion& Expansion::With(const char* name, float value) {
  auto* attribute = next_.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
  return *this;
}

std::string Expansion::Name() {
  return node_.state().names.Take(node_.label() + "/" + std::to_string(count_++));
}

std::string Expansion::Import(const char* op, const std::vector<std::string>& inputs,
                              std::string output) {
  next_.set_op_type(op);
  next_.set_name(node_.label());
  for (const std::string& input : inputs) {
    node_.Check(input.empty() || node_.state().values.count(input), "input ", Quoted(input),
                " is not there");
    next_.add_input(input);
    ++node_.state().uses[input];
  }
  next_.add_output(output);
  onnx::NodeProto made;
  made.Swap(&next_);
  ImportOneNode(made, node_.state());
  return output;
}

std::string Expansion::Make(const char* op, const std::vector<std::string>& inputs) {
  return Import(op, inputs, Name());
}

void Expansion::Give(const char* op, const std::vector<std::string>& inputs, int i) {
  if (i < node_.OutputCount() && !node_.proto().output(i).empty()) {
    Import(op, inputs, node_.proto().output(i));
  }
}

std::string Expansion::Number(float value, DType type) {
  const ValueId id = node_.Scalar(value, type);
  std::string name = node_.At(id).name;
  node_.state().values[name] = id;
  return name;
}

std::string Expansion::Dequantized(int i, int64_t axis) {
  node_.KeepSign(In(i));
  return With("axis", axis).Make("DequantizeLinear", {In(i), In(i + 1), In(i + 2)});
}

void Expansion::GiveQuantized(const std::string& x, int i) {
  Give("QuantizeLinear", {x, In(i), In(i + 1)});
  node_.KeepSign(node_.proto().output(0));
}

}  // namespace rshift
