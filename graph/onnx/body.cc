#include "graph/onnx/body.h"

#include <google/protobuf/unknown_field_set.h>

#include "graph/onnx/body_names.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;

constexpr int kDeepest = 16;  // bodies in bodies

// Gives the body names that no other part of the graph has.
void MakeUnique(OnnxNode& node, const std::string& part, Names names, GraphProto& body) {
  const std::string prefix = node.label() + "/" + (part.empty() ? "" : part + "/");
  for (const std::string& own : OwnNames(body)) {
    if (!own.empty() && !names.count(own)) names[own] = node.state().names.Take(prefix + own);
  }
  RenameNodes(body.mutable_node(), names);
  for (auto& inner : *body.mutable_node()) {
    if (!inner.name().empty()) inner.set_name(prefix + inner.name());
  }
  for (auto& input : *body.mutable_input()) Rename(input.mutable_name(), names);
  for (auto& output : *body.mutable_output()) Rename(output.mutable_name(), names);
}

// Initializers of a body, made once for all its copies.
void BindInitializers(OnnxNode& node, const GraphProto& body, Names* names) {
  ImportState& state = node.state();
  node.CheckSupported(body.sparse_initializer_size() == 0,
                      "its body has sparse initializers; store them dense");
  for (const auto& tensor : body.initializer()) {
    const auto [entry, fresh] = state.body_constants.try_emplace(&tensor);
    if (fresh) {
      Value value = ImportTensor(tensor, state.external, "initializer " + Quoted(tensor.name()));
      state.budget.Give(static_cast<int64_t>(value.constant->bytes.size()));
      value.name = state.names.Take(node.label() + "/" + tensor.name());
      entry->second = state.graph.AddValue(std::move(value));
    }
    const std::string& name = state.graph.value(entry->second).name;
    state.values[name] = entry->second;
    (*names)[tensor.name()] = name;
  }
}

void CountUses(const GraphProto& body, ImportState& state) {
  for (const auto& output : body.output()) ++state.uses[output.name()];
  for (const auto& node : body.node()) {
    for (const std::string& input : node.input()) ++state.uses[input];
    for (const std::string& name : CapturedNames(node)) ++state.uses[name];
  }
}

void ImportBodyNodes(const GraphProto& body, ImportState& state) {
  for (const auto& proto : body.node()) {
    const std::string where = NodeLabel(proto) + " (" + proto.op_type() + ")";
    RSHIFT_REQUIRE(++state.body_nodes <= kMostBodyNodes, ErrorCode::kUnsupported, where,
                   ": loops and functions of the model, unrolled, have more than ", kMostBodyNodes,
                   " nodes; export it with fewer iterations");
    const Refusal refusal = RefuseByType(proto, *state.model);
    RSHIFT_REQUIRE(refusal.reason.empty(), ErrorCode::kUnsupported, where, ": ", refusal.reason);
    std::set<std::string> read(proto.input().begin(), proto.input().end());
    read.merge(CapturedNames(proto));
    for (const std::string& name : read) {
      RSHIFT_REQUIRE(name.empty() || state.values.count(name), ErrorCode::kInvalidInput, where,
                     " reads ", Quoted(name), ", which nothing before it makes");
    }
    ImportOneNode(proto, state);
  }
}

std::vector<Expr> ImportRenamed(OnnxNode& node, GraphProto& body, const std::vector<Expr>& inputs) {
  ImportState& state = node.state();
  for (int i = 0; i < body.input_size(); ++i) {
    if (i < static_cast<int>(inputs.size()) && inputs[i].id().valid()) {
      state.values[body.input(i).name()] = inputs[i].id();
    }
  }
  CountUses(body, state);
  node.CheckSupported(state.body_depth < kDeepest, "bodies in bodies are more than ", kDeepest,
                      " deep; simplify the model");
  ++state.body_depth;
  ImportBodyNodes(body, state);
  --state.body_depth;
  std::vector<Expr> outputs;
  outputs.reserve(body.output_size());
  for (const auto& output : body.output()) {
    const auto found = state.values.find(output.name());
    node.Check(found != state.values.end(), "nothing in its body makes the output ",
               Quoted(output.name()));
    outputs.emplace_back(node, found->second);
  }
  return outputs;
}

// Attributes that a function's nodes take from the call.
void FillAttributes(google::protobuf::RepeatedPtrField<onnx::NodeProto>* nodes,
                    const std::map<std::string, const AttributeProto*>& given) {
  for (auto& node : *nodes) {
    google::protobuf::RepeatedPtrField<AttributeProto> filled;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) FillAttributes(attribute.mutable_g()->mutable_node(), given);
      const auto found = given.find(attribute.ref_attr_name());
      if (attribute.ref_attr_name().empty()) {
        *filled.Add() = attribute;
      } else if (found != given.end()) {
        *filled.Add() = *found->second;
        filled.rbegin()->set_name(attribute.name());
      }
    }
    node.mutable_attribute()->Swap(&filled);
  }
}

// Those that IR version 9 added (FunctionProto.attribute_proto): older classes keep them unread.
std::vector<AttributeProto> DefaultAttributes(const onnx::FunctionProto& function) {
  constexpr int kAttributeProto = 11;
  std::vector<AttributeProto> defaults;
  const auto& fields = function.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    if (fields.field(i).number() != kAttributeProto) continue;
    AttributeProto attribute;
    if (attribute.ParseFromString(fields.field(i).length_delimited())) {
      defaults.push_back(attribute);
    }
  }
  return defaults;
}

GraphProto BodyOf(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  GraphProto body;
  for (const std::string& name : function.input()) body.add_input()->set_name(name);
  for (const std::string& name : function.output()) body.add_output()->set_name(name);
  *body.mutable_node() = function.node();
  const std::vector<AttributeProto> defaults = DefaultAttributes(function);
  std::map<std::string, const AttributeProto*> given;
  for (const AttributeProto& attribute : defaults) given[attribute.name()] = &attribute;
  for (const auto& attribute : call.attribute()) given[attribute.name()] = &attribute;
  FillAttributes(body.mutable_node(), given);
  // An optional input that the call leaves out is one that the function's nodes leave out.
  Names absent;
  for (int i = 0; i < function.input_size(); ++i) {
    if (i >= call.input_size() || call.input(i).empty()) absent[function.input(i)] = "";
  }
  RenameNodes(body.mutable_node(), absent);
  return body;
}

}  // namespace

std::vector<Expr> ImportBody(OnnxNode& node, const GraphProto& body, const std::string& part,
                             const std::vector<Expr>& inputs) {
  node.Check(static_cast<int>(inputs.size()) == body.input_size(), "its body has ",
             body.input_size(), " inputs, expected ", inputs.size());
  Names constants;
  BindInitializers(node, body, &constants);
  GraphProto own;
  *own.mutable_node() = body.node();
  *own.mutable_input() = body.input();
  *own.mutable_output() = body.output();
  MakeUnique(node, part, constants, own);
  return ImportRenamed(node, own, inputs);
}

const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node,
                                        const onnx::ModelProto& model) {
  for (const auto& function : model.functions()) {
    if (function.name() == node.op_type() && function.domain() == node.domain()) return &function;
  }
  return nullptr;
}

void ImportFunctionCall(OnnxNode& node) {
  ImportState& state = node.state();
  const onnx::FunctionProto& function = *FindFunction(node.proto(), *state.model);
  GraphProto body = BodyOf(function, node.proto());
  std::vector<Expr> inputs;
  inputs.reserve(function.input_size());
  for (int i = 0; i < function.input_size(); ++i) {
    inputs.emplace_back(node, node.HasInput(i) ? node.Input(i) : ValueId());
  }
  const int64_t opset = state.opset;
  for (const auto& import : function.opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") state.opset = import.version();
  }
  MakeUnique(node, "", {}, body);
  const std::vector<Expr> outputs = ImportRenamed(node, body, inputs);
  state.opset = opset;
  for (int i = 0; i < node.OutputCount(); ++i) {
    node.Check(i < static_cast<int>(outputs.size()), "calls a function with ", outputs.size(),
               " outputs, expected ", node.OutputCount());
    Give(outputs[i], i);
  }
}

void ImportOneNode(const onnx::NodeProto& proto, ImportState& state) {
  OnnxNode node(proto, state);
  FindImport(proto, *state.model)(node);
  for (const std::string& output : proto.output()) {
    const bool made = output.empty() || state.values.count(output);
    node.CheckSupported(made || !state.uses.count(output), "output ", Quoted(output),
                        " is used, but it is not supported");
  }
}

}  // namespace rshift
