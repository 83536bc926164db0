#include "graph/import.h"

#include <filesystem>
#include <span>

#include "base/atomic_file.h"
#include "base/error.h"
#include "graph/onnx/append.h"
#include "graph/onnx/body.h"
#include "graph/onnx/body_names.h"
#include "graph/onnx/channel_scales.h"
#include "graph/onnx/cut.h"
#include "graph/onnx/dynamic_product.h"
#include "graph/onnx/model.h"
#include "graph/onnx/propose.h"
#include "graph/onnx/table.h"
#include "graph/openvino/ir.h"
#include "graph/openvino/translate.h"
#include "graph/sha256.h"
#include "graph/tflite/model.h"

namespace rshift {
namespace {

struct Imported {
  ImportState state;
  std::vector<NodeSupport> nodes;  // in file order
  int unsupported = 0;
};

void CountNames(const onnx::GraphProto& graph, ImportState& state) {
  for (const auto& tensor : graph.initializer()) state.names.Reserve(tensor.name());
  for (const auto& input : graph.input()) state.names.Reserve(input.name());
  for (const auto& output : graph.output()) ++state.uses[output.name()];
  for (const auto& node : graph.node()) {
    for (const std::string& output : node.output()) state.names.Reserve(output);
    for (const std::string& input : node.input()) ++state.uses[input];
    for (const std::string& name : CapturedNames(node)) ++state.uses[name];
  }
}

bool InputsKnown(const onnx::NodeProto& node, const ImportState& state) {
  for (const std::string& input : node.input()) {
    if (!input.empty() && !state.values.count(input)) return false;
  }
  for (const std::string& name : CapturedNames(node)) {
    if (!state.values.count(name)) return false;
  }
  return true;
}

bool OutputsConstant(const onnx::NodeProto& node, const ImportState& state) {
  for (const std::string& output : node.output()) {
    auto found = state.values.find(output);
    if (output.empty()) continue;
    if (found == state.values.end() || !state.graph.value(found->second).is_constant())
      return false;
  }
  return true;
}

// Says what the unsupported node is without repeating its name.
std::string Reason(const std::string& message, const std::string& where) {
  return message.starts_with(where + ": ") ? message.substr(where.size() + 2) : message;
}

void ImportNode(const onnx::NodeProto& proto, NodeSupport& support, ImportState& state) {
  OnnxNode node(proto, state);
  try {
    ImportOneNode(proto, state);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    support.supported = false;
    support.reason = Reason(error.what(), node.where());
    support.advice = GeneralAdvice();
    for (const std::string& output : proto.output()) state.values.erase(output);
  }
}

// Where the bytes of a model come from: "" for those in memory.
struct Place {
  std::string folder, file;
};

bool IsOnnx(std::span<const uint8_t> bytes) { return !IsTflite(bytes) && !openvino::IsIr(bytes); }

// By the first bytes of the file. --input-shape opens the dimensions that a .tflite file leaves
// open.
onnx::ModelProto ReadModel(std::span<const uint8_t> bytes, const Place& place,
                           const ImportOptions& options) {
  if (openvino::IsIr(bytes)) return TranslateIr(bytes, place.folder, place.file);
  const bool opens = !options.input_shapes.empty() || !options.recorded.shapes.empty();
  return IsTflite(bytes) ? TranslateTflite(bytes, opens) : ParseModel(bytes);
}

// Imports whatever can be; what lies behind an unsupported node is judged by its type alone.
Imported ImportModel(std::span<const uint8_t> bytes, const Place& place, const ImportOptions& given,
                     bool lenient) {
  const std::string sha256 = Sha256Hex(bytes);
  ImportOptions options = given;
  if (!given.recorded.model_sha256.empty() && given.recorded.model_sha256 != sha256)
    options.recorded = {};
  onnx::ModelProto model = ReadModel(bytes, place, options);
  if (options.note && IsTflite(bytes) && !model.doc_string().empty())
    options.note(model.doc_string());
  const AppendedModel appended(options, &model);
  onnx::GraphProto& graph = *model.mutable_graph();
  Imported result;
  ImportState& state = result.state;
  state.public_names = appended.public_names();
  state.model = &model;
  state.opset = OpsetOf(model);
  state.external.folder = place.folder;
  state.external.outputs = options.outputs;
  state.graph.name = graph.name();
  state.graph.sha256 = sha256;
  const std::vector<int> order = OrderNodes(graph);
  for (const auto& node : graph.node()) {
    const Refusal refusal = RefuseByType(node, model);
    const std::string op =
        node.domain().empty() ? node.op_type() : node.domain() + ":" + node.op_type();
    result.nodes.push_back(
        {NodeLabel(node), op, refusal.reason.empty(), false, refusal.reason, refusal.advice});
    if (!refusal.reason.empty()) lenient = true;
  }
  CountNames(graph, state);
  AddInitializers(graph, state);
  AddInputs(graph, options, lenient, state);
  for (int n : order) {
    if (result.nodes[n].supported && InputsKnown(graph.node(n), state)) {
      if (appended.IsCall(graph.node(n))) appended.CheckInputs(state);
      ImportNode(graph.node(n), result.nodes[n], state);
      result.nodes[n].folded = result.nodes[n].supported && OutputsConstant(graph.node(n), state);
    }
    if (!result.nodes[n].supported) ++result.unsupported;
  }
  if (result.unsupported == 0 && !lenient) AddOutputs(graph, state);
  state.model = nullptr;  // it ends here
  return result;
}

// Every message begins with the file.
template <typename F>
auto WithPlace(const std::string& where, F f) {
  try {
    return f();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(where + ": ")) throw;
    throw Error(error.code(), where + ": " + message);
  }
}

// Without characters that would break the line.
std::string Unquoted(const std::string& name) {
  const std::string quoted = Quoted(name);
  return quoted.substr(1, quoted.size() - 2);
}

std::string ListUnsupported(const std::vector<NodeSupport>& nodes, int count) {
  std::string text =
      Cat(count, " of ", nodes.size(), " nodes ", count == 1 ? "is" : "are", " not supported:");
  for (const NodeSupport& node : nodes) {
    if (node.supported) continue;
    text += Cat("\n  ", Quoted(node.node), " (", Unquoted(node.op), "): ", node.reason, "; ",
                node.advice);
  }
  return text;
}

// `advice` follows the list of what is not supported.
Graph FinishImport(Imported imported, const char* advice) {
  RSHIFT_REQUIRE(imported.unsupported == 0, ErrorCode::kUnsupported,
                 ListUnsupported(imported.nodes, imported.unsupported), advice);
  Graph graph = std::move(imported.state.graph);
  graph.RemoveUnused();
  FuseDynamicResults(graph);
  for (const auto* ends : {&graph.inputs, &graph.outputs}) {
    for (const ValueId id : *ends)
      graph.value(id).keeps_sign |= graph.value(id).dtype == DType::kS8;
  }
  SpreadQuantParams(graph);
  graph = FoldChannelScales(std::move(graph));
  graph.Check();
  return graph;
}

// Imports the whole model. Open shapes of inputs come with a proposal that has been tried.
Graph ImportWhole(std::span<const uint8_t> bytes, const Place& place,
                  const ImportOptions& options) {
  const auto imports = [&](const ImportOptions& trial) {
    try {
      ImportModel(bytes, place, trial, false);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  try {
    return FinishImport(
        ImportModel(bytes, place, options, false),
        IsOnnx(bytes) ? "\nthe part before: model_tool cut MODEL -o PART.onnx" : "");
  } catch (const DynamicShape& error) {
    const onnx::ModelProto model = ReadModel(bytes, place, options);
    Fail(error.code(), error.what(), ": give ", ProposeShapes(model.graph(), options, imports));
  }
}

Place PlaceOf(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().string();
  return {folder.empty() ? "." : folder, file.filename().string()};
}

}  // namespace

Graph ImportOnnx(const std::string& path, const ImportOptions& options) {
  return WithPlace(path, [&] { return ImportWhole(ReadFile(path), PlaceOf(path), options); });
}

Graph ImportOnnxBytes(std::span<const uint8_t> bytes, const std::string& where,
                      const ImportOptions& options) {
  return WithPlace(where, [&] { return ImportWhole(bytes, {}, options); });
}

ModelPart CutModel(const std::string& path, const ImportOptions& options, const CutEnds& ends) {
  return WithPlace(path, [&] {
    const auto bytes = ReadFile(path);
    RSHIFT_REQUIRE(IsOnnx(bytes), ErrorCode::kUnsupported, "parts are cut out of ONNX files only");
    const Imported whole = ImportModel(bytes, PlaceOf(path), options, true);
    onnx::ModelProto model = ParseModel(bytes);
    for (const auto& input : model.graph().input()) {
      RSHIFT_REQUIRE(whole.state.values.contains(input.name()), ErrorCode::kInvalidInput, "input ",
                     Quoted(input.name()), " has a dynamic shape: give it with --input-shape");
    }
    return CutPart(std::move(model), whole.nodes, whole.state, ends);
  });
}

std::vector<NodeSupport> CheckSupport(const std::string& path, const ImportOptions& options) {
  ImportOptions silent = options;
  silent.note = {};
  return WithPlace(path,
                   [&] { return ImportModel(ReadFile(path), PlaceOf(path), silent, true).nodes; });
}

}  // namespace rshift
