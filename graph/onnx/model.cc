#include "graph/onnx/model.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "base/file_kind.h"
#include "graph/onnx/body_names.h"
#include "graph/onnx/nibbles.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Names that exist before any node runs.
std::set<std::string> GivenNames(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& tensor : graph.initializer()) {
    RSHIFT_REQUIRE(!tensor.name().empty(), ErrorCode::kInvalidInput, "an initializer has no name");
    RSHIFT_REQUIRE(names.insert(tensor.name()).second, ErrorCode::kInvalidInput, "initializer ",
                   Quoted(tensor.name()), " is there twice");
  }
  std::set<std::string> inputs;
  for (const auto& input : graph.input()) {
    RSHIFT_REQUIRE(!input.name().empty(), ErrorCode::kInvalidInput, "a model input has no name");
    RSHIFT_REQUIRE(inputs.insert(input.name()).second, ErrorCode::kInvalidInput, "model input ",
                   Quoted(input.name()), " is there twice");
  }
  names.merge(inputs);
  return names;
}

using Makers = std::unordered_map<std::string, int>;

Makers FindMakers(const onnx::GraphProto& graph, const std::set<std::string>& given) {
  Makers makers;
  for (int n = 0; n < graph.node_size(); ++n) {
    for (const std::string& output : graph.node(n).output()) {
      if (output.empty()) continue;
      RSHIFT_REQUIRE(!given.count(output) && makers.emplace(output, n).second,
                     ErrorCode::kInvalidInput, "value ", Quoted(output),
                     " is made twice; the second time by node ", Quoted(NodeLabel(graph.node(n))));
    }
  }
  return makers;
}

}  // namespace

// Throws kUnsupported for a model that is made of other operators than the standard ones.
void CheckDomains(const onnx::ModelProto& model) {
  if (OpsetOf(model) != 0 || model.opset_import_size() == 0) return;
  const auto& nodes = model.graph().node();
  if (std::any_of(nodes.begin(), nodes.end(),
                  [&](const onnx::NodeProto& node) { return FindImport(node, model) != nullptr; }))
    return;
  const std::string& domain = model.opset_import(0).domain();
  const std::string& op = model.graph().node_size() > 0 ? model.graph().node(0).op_type() : "none";
  Fail(ErrorCode::kUnsupported, "uses operators of the domain ", Quoted(domain), " only (",
       Quoted(op), "): ",
       domain == "ai.onnx.ml" ? "decision trees and other classical machine learning; Rshift takes "
                                "neural networks of standard ONNX operators"
                              : "export the model with standard ONNX operators");
}

onnx::ModelProto ParseModel(std::span<const uint8_t> bytes) {
  RSHIFT_REQUIRE(!bytes.empty(), ErrorCode::kInvalidInput,
                 "the file is empty, expected an ONNX model");
  RSHIFT_REQUIRE(bytes.size() < (size_t{1} << 31), ErrorCode::kUnsupported,
                 "the file has 2 GiB or more; store the weights as external data");
  onnx::ModelProto model;
  const bool parsed = model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  RSHIFT_REQUIRE(parsed, ErrorCode::kInvalidInput,
                 "not an ONNX model, or cut short: the protobuf structure is broken",
                 KindNote(bytes, true));
  RSHIFT_REQUIRE(
      model.has_graph() && (model.graph().node_size() > 0 || model.graph().output_size() > 0),
      ErrorCode::kInvalidInput, "not an ONNX model: it has no graph", KindNote(bytes, true));
  CheckDomains(model);
  // Features alone (classical.cc), no operator of ONNX itself.
  if (OpsetOf(model) == 0 && model.opset_import_size() > 0)
    model.add_opset_import()->set_version(kNewestOpset);
  const int64_t opset = OpsetOf(model);
  RSHIFT_REQUIRE(opset != 0 && model.opset_import_size() > 0, ErrorCode::kInvalidInput,
                 "does not say which opset it uses; the file may be cut short");
  const auto& nodes = model.graph().node();
  const bool is_old = opset >= 1 && opset < kOldestOpset &&
                      std::all_of(nodes.begin(), nodes.end(), [](const onnx::NodeProto& node) {
                        return IsUnchangedToOldest(node.op_type());
                      });
  RSHIFT_REQUIRE(is_old || (opset >= kOldestOpset && opset <= kNewestOpset),
                 ErrorCode::kUnsupported, "uses opset ", opset, ", expected ", kOldestOpset, " to ",
                 kNewestOpset, "; convert it with onnx.version_converter or export it again");
  return model;
}

std::vector<int> OrderNodes(const onnx::GraphProto& graph) {
  const std::set<std::string> given = GivenNames(graph);
  const Makers makers = FindMakers(graph, given);
  std::vector<int> waiting(graph.node_size(), 0);
  std::vector<std::vector<int>> readers(graph.node_size());
  for (int n = 0; n < graph.node_size(); ++n) {
    std::set<std::string> read = CapturedNames(graph.node(n));
    read.insert(graph.node(n).input().begin(), graph.node(n).input().end());
    for (const std::string& input : read) {
      if (input.empty() || given.count(input)) continue;
      auto maker = makers.find(input);
      RSHIFT_REQUIRE(maker != makers.end(), ErrorCode::kInvalidInput, "node ",
                     Quoted(NodeLabel(graph.node(n))), " reads ", Quoted(input),
                     ", which no node, input or initializer provides");
      readers[maker->second].push_back(n);
      ++waiting[n];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int n = 0; n < graph.node_size(); ++n) {
    if (waiting[n] == 0) ready.push(n);
  }
  std::vector<int> order;
  for (; !ready.empty();) {
    order.push_back(ready.top());
    ready.pop();
    for (int reader : readers[order.back()]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  for (int n = 0; n < graph.node_size(); ++n) {
    RSHIFT_REQUIRE(waiting[n] == 0, ErrorCode::kInvalidInput, "node ",
                   Quoted(NodeLabel(graph.node(n))), " is part of a cycle, or behind one");
  }
  for (const auto& output : graph.output()) {
    RSHIFT_REQUIRE(given.count(output.name()) || makers.count(output.name()),
                   ErrorCode::kInvalidInput, "model output ", Quoted(output.name()),
                   " is made by no node");
  }
  return order;
}

void AddInitializers(onnx::GraphProto& graph, ImportState& state) {
  RSHIFT_REQUIRE(graph.sparse_initializer_size() == 0, ErrorCode::kUnsupported,
                 "has sparse initializers; store them dense");
  for (auto& tensor : *graph.mutable_initializer()) {
    const std::string where = "initializer " + Quoted(tensor.name());
    if (IsNibbles(tensor.data_type())) {
      state.nibbles.insert(tensor.name());
      tensor = WidenNibbles(tensor, state.external, where);
    }
    Value value = ImportTensor(tensor, state.external, where);
    const std::string name = value.name;
    state.budget.Give(static_cast<int64_t>(value.constant->bytes.size()));
    state.values[name] = state.graph.AddValue(std::move(value));
    tensor.clear_raw_data();
    tensor.clear_float_data();
  }
}

namespace {

// Integers of 16 bits that the import holds as numbers (quant.cc) become integers again.
ValueId OfDeclaredType(const onnx::ValueInfoProto& output, ImportState& state) {
  const ValueId id = state.values.at(output.name());
  const Value& held = state.graph.value(id);
  const int type = output.type().tensor_type().elem_type();
  const bool wide = type == onnx::TensorProto::INT16 || type == onnx::TensorProto::UINT16;
  if (!wide || held.dtype != DType::kF32) return id;
  Value made;
  made.name = state.names.Take(held.name + "__integers");
  made.shape = held.shape;
  made.dtype = type == onnx::TensorProto::INT16 ? DType::kS16 : DType::kU16;
  const std::string name = made.name;
  const DType to = made.dtype;
  const ValueId integers = state.graph.AddValue(std::move(made));
  state.graph.AddNode({name, Cast{to}, {id}, {integers}});
  return integers;
}

// Outputs whose size depends on the data bring their count along, as one more output.
void AddCounts(ImportState& state) {
  Graph& graph = state.graph;
  std::map<ValueId, int> places;
  const auto own = static_cast<int>(graph.outputs.size());
  for (int i = 0; i < own; ++i) {
    const auto found = state.bounded.find(graph.outputs[i].index());
    if (found == state.bounded.end()) continue;
    const auto [place, fresh] =
        places.try_emplace(found->second.count, static_cast<int>(graph.outputs.size()));
    if (fresh) {
      graph.outputs.push_back(found->second.count);
      graph.output_names.push_back(state.names.Take(graph.output_names[i] + ".count"));
    }
    graph.output_cuts.push_back({i, place->second, found->second.axis});
  }
}

}  // namespace

void AddOutputs(const onnx::GraphProto& graph, ImportState& state) {
  std::set<std::string> seen;
  RSHIFT_REQUIRE(graph.output_size() > 0, ErrorCode::kInvalidInput, "the model has no outputs");
  for (const auto& output : graph.output()) {
    RSHIFT_REQUIRE(seen.insert(output.name()).second, ErrorCode::kInvalidInput, "model output ",
                   Quoted(output.name()), " is there twice");
    const auto renamed = state.public_names.find(output.name());
    state.graph.outputs.push_back(OfDeclaredType(output, state));
    state.graph.output_names.push_back(renamed == state.public_names.end() ? output.name()
                                                                           : renamed->second);
  }
  AddCounts(state);
}

}  // namespace rshift
