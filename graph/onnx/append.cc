#include "graph/onnx/append.h"

#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "graph/onnx/model.h"

namespace rshift {
namespace {

constexpr const char* kDomain = "rshift.append";

std::string NamesOf(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + Quoted(value.name());
  return text;
}

// Inputs that no initializer gives a default.
std::vector<const onnx::ValueInfoProto*> OpenInputs(const onnx::GraphProto& graph) {
  std::set<std::string> given;
  for (const auto& tensor : graph.initializer()) given.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    if (!given.count(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

// Which output of the model in front an input wants: by --append-map, by the file's own metadata
// ("append:INPUT": OUTPUT), or the one of its name.
std::string OutputFor(const std::string& input, const ImportOptions& options,
                      const onnx::ModelProto& own) {
  const auto mapped = options.append_inputs.find(input);
  if (mapped != options.append_inputs.end()) return mapped->second;
  for (const auto& entry : own.metadata_props()) {
    if (entry.key() == "append:" + input) return entry.value();
  }
  return input;
}

bool HasOutput(const onnx::GraphProto& graph, const std::string& name) {
  for (const auto& output : graph.output()) {
    if (output.name() == name) return true;
  }
  return false;
}

onnx::NodeProto ConstantNode(const onnx::TensorProto& tensor) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.set_name(tensor.name());
  node.add_output(tensor.name());
  onnx::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  *value.mutable_t() = tensor;
  return node;
}

bool IsFloat(int type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::DOUBLE || type == onnx::TensorProto::BFLOAT16;
}

bool SameType(int declared, DType found) {
  switch (found) {
    case DType::kF32:
      return IsFloat(declared);
    case DType::kS64:
      return declared == onnx::TensorProto::INT64;
    case DType::kS32:
      return declared == onnx::TensorProto::INT32;
    case DType::kU8:
      return declared == onnx::TensorProto::UINT8;
    case DType::kS8:
      return declared == onnx::TensorProto::INT8;
    case DType::kBool:
      return declared == onnx::TensorProto::BOOL;
    default:
      return false;
  }
}

// "1x4420x?"; open dimensions take any size.
std::string DeclaredText(const onnx::TensorShapeProto& shape) {
  std::string text;
  for (const auto& dim : shape.dim()) {
    text +=
        (text.empty() ? "" : "x") + (dim.has_dim_value() ? std::to_string(dim.dim_value()) : "?");
  }
  return text.empty() ? "a scalar" : text;
}

bool Takes(const onnx::TensorShapeProto& declared, const Shape& found) {
  if (declared.dim_size() != static_cast<int>(found.size())) return false;
  for (int d = 0; d < declared.dim_size(); ++d) {
    if (declared.dim(d).has_dim_value() && declared.dim(d).dim_value() != found[d]) return false;
  }
  return true;
}

}  // namespace

AppendedModel::AppendedModel(const ImportOptions& options, onnx::ModelProto* model) {
  if (options.append.empty()) return;
  where_ = options.append;
  try {
    own_ = ParseModel(ReadFile(options.append));
    for (const auto& tensor : own_.graph().initializer()) {
      RSHIFT_REQUIRE(tensor.data_location() != onnx::TensorProto::EXTERNAL, ErrorCode::kUnsupported,
                     "initializer ", Quoted(tensor.name()),
                     " stands in another file; store the constants inside of the model");
    }
    Join(options, model);
    MakeFunction(model);
    MakeOutputs(model->mutable_graph());
    *model->mutable_graph()->add_node() = call_;
  } catch (const Error& error) {
    Fail(error.code(), "--append ", where_, ": ", error.what());
  }
}

void AppendedModel::Join(const ImportOptions& options, onnx::ModelProto* model) {
  const onnx::GraphProto& graph = model->graph();
  call_.set_domain(kDomain);
  call_.set_op_type("Appended");
  call_.set_name(std::filesystem::path(where_).stem().string());
  std::set<std::string> unused;
  for (const auto& [input, output] : options.append_inputs) unused.insert(input);
  for (const onnx::ValueInfoProto* input : OpenInputs(own_.graph())) {
    const std::string output = OutputFor(input->name(), options, own_);
    RSHIFT_REQUIRE(HasOutput(graph, output), ErrorCode::kInvalidInput, "input ",
                   Quoted(input->name()), " wants the model's output ", Quoted(output),
                   ", but the model has ", NamesOf(graph.output()), "; give --append-map ",
                   input->name(), "=OUTPUT");
    unused.erase(input->name());
    call_.add_input(output);
  }
  RSHIFT_REQUIRE(unused.empty(), ErrorCode::kInvalidInput, "--append-map names the input ",
                 unused.empty() ? "" : Quoted(*unused.begin()), ", expected one of ",
                 NamesOf(own_.graph().input()));
}

void AppendedModel::MakeFunction(onnx::ModelProto* model) {
  RSHIFT_REQUIRE(own_.graph().sparse_initializer_size() == 0, ErrorCode::kUnsupported,
                 "has sparse initializers; store them dense");
  onnx::FunctionProto function;
  function.set_domain(kDomain);
  function.set_name("Appended");
  *function.mutable_opset_import() = own_.opset_import();
  for (const onnx::ValueInfoProto* input : OpenInputs(own_.graph())) {
    function.add_input(input->name());
  }
  for (const auto& tensor : own_.graph().initializer()) {
    *function.add_node() = ConstantNode(tensor);
  }
  // Its nodes in an order in which each reads what others have made before.
  for (const int n : OrderNodes(own_.graph())) *function.add_node() = own_.graph().node(n);
  for (const auto& output : own_.graph().output()) function.add_output(output.name());
  for (const auto& inner : own_.functions()) {
    for (const auto& other : model->functions()) {
      RSHIFT_REQUIRE(other.name() != inner.name() || other.domain() != inner.domain(),
                     ErrorCode::kUnsupported, "defines the function ", Quoted(inner.name()),
                     ", which the model defines, too; inline one of them");
    }
    *model->add_functions() = inner;
  }
  *model->add_functions() = std::move(function);
}

void AppendedModel::MakeOutputs(onnx::GraphProto* graph) {
  std::set<std::string> taken;
  for (const auto& node : graph->node()) taken.insert(node.output().begin(), node.output().end());
  for (const auto& tensor : graph->initializer()) taken.insert(tensor.name());
  for (const auto& input : graph->input()) taken.insert(input.name());
  const std::set<std::string> read(call_.input().begin(), call_.input().end());
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> outputs = own_.graph().output();
  std::set<std::string> names;
  for (auto& output : outputs) {
    const std::string name = output.name();
    names.insert(name);
    if (taken.count(name)) {
      output.set_name(call_.name() + "/" + name);
      public_[output.name()] = name;
    }
    call_.add_output(output.name());
  }
  for (const auto& output : graph->output()) {
    if (read.count(output.name())) continue;
    RSHIFT_REQUIRE(!names.count(output.name()), ErrorCode::kInvalidInput,
                   "both models have an output ", Quoted(output.name()), "; rename one of them");
    *outputs.Add() = output;
  }
  graph->mutable_output()->Swap(&outputs);
}

bool AppendedModel::IsCall(const onnx::NodeProto& node) const {
  return !where_.empty() && node.domain() == kDomain;
}

void AppendedModel::CheckInputs(const ImportState& state) const {
  const auto inputs = OpenInputs(own_.graph());
  for (int i = 0; i < call_.input_size(); ++i) {
    const Value& value = state.graph.value(state.values.at(call_.input(i)));
    const auto& declared = inputs[i]->type().tensor_type();
    const std::string input = Cat("--append ", where_, ": input ", Quoted(inputs[i]->name()));
    RSHIFT_REQUIRE(SameType(declared.elem_type(), value.dtype), ErrorCode::kInvalidInput, input,
                   " has the ONNX type ", declared.elem_type(), ", but the model's output ",
                   Quoted(call_.input(i)), " is ", Name(value.dtype));
    RSHIFT_REQUIRE(!declared.has_shape() || Takes(declared.shape(), value.shape),
                   ErrorCode::kInvalidInput, input, " has the shape ",
                   DeclaredText(declared.shape()), ", but the model's output ",
                   Quoted(call_.input(i)), " is ", ToString(value.shape));
  }
}

}  // namespace rshift
