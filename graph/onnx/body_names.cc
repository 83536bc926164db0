#include "graph/onnx/body_names.h"

namespace rshift {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;

void CollectCaptured(const onnx::NodeProto& node, std::set<std::string>& captured);

void CollectFromBody(const GraphProto& body, std::set<std::string>& captured) {
  std::set<std::string> read;
  for (const auto& node : body.node()) {
    read.insert(node.input().begin(), node.input().end());
    CollectCaptured(node, read);
  }
  for (const auto& output : body.output()) read.insert(output.name());
  const std::set<std::string> own = OwnNames(body);
  for (const std::string& name : read) {
    if (!name.empty() && !own.count(name)) captured.insert(name);
  }
}

void CollectCaptured(const onnx::NodeProto& node, std::set<std::string>& captured) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) CollectFromBody(attribute.g(), captured);
    for (const GraphProto& graph : attribute.graphs()) CollectFromBody(graph, captured);
  }
}

}  // namespace

std::set<std::string> OwnNames(const GraphProto& body) {
  std::set<std::string> names;
  for (const auto& input : body.input()) names.insert(input.name());
  for (const auto& tensor : body.initializer()) names.insert(tensor.name());
  for (const auto& node : body.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

std::set<std::string> CapturedNames(const onnx::NodeProto& node) {
  std::set<std::string> captured;
  CollectCaptured(node, captured);
  return captured;
}

void Rename(std::string* name, const Names& names) {
  const auto found = names.find(*name);
  if (found != names.end()) *name = found->second;
}

void RenameNodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>* nodes, const Names& names) {
  for (auto& node : *nodes) {
    for (auto& input : *node.mutable_input()) Rename(&input, names);
    for (auto& output : *node.mutable_output()) Rename(&output, names);
    for (auto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      GraphProto& inner = *attribute.mutable_g();
      Names visible = names;
      for (const std::string& own : OwnNames(inner)) visible.erase(own);
      RenameNodes(inner.mutable_node(), visible);
      for (auto& output : *inner.mutable_output()) Rename(output.mutable_name(), visible);
    }
  }
}

}  // namespace rshift
