#include "graph/openvino/translate.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "graph/onnx/tensor.h"
#include "graph/openvino/layer.h"

namespace rshift {
namespace openvino {
namespace {

// ONNX's forms in which IR layers are written down.
constexpr int64_t kOpset = 21;

const std::map<std::string, Translation>& Table() {
  static const std::map<std::string, Translation> kTable = [] {
    std::map<std::string, Translation> table;
    for (const auto& family : {ConvTranslations(), EltwiseTranslations(), MovementTranslations(),
                               NormTranslations(), ReduceTranslations()}) {
      for (const Entry& entry : family) table.emplace(entry.type, entry.translate);
    }
    return table;
  }();
  return kTable;
}

// The first of the tensor's names, which is that of the model it was converted from, else the
// layer's.
std::string WantedName(const Layer& layer, size_t output) {
  const std::string& names = layer.outputs[output].names;
  std::string first = names.substr(0, names.find(','));
  if (!first.empty()) return first;
  return layer.outputs.size() == 1 ? layer.name : layer.name + "." + std::to_string(output);
}

void NameTensors(State& state) {
  for (const Layer& layer : state.net.layers) {
    std::vector<std::string> names;
    for (size_t i = 0; i < layer.outputs.size(); ++i) {
      names.push_back(state.names.Take(WantedName(layer, i)));
    }
    state.tensors.push_back(std::move(names));
  }
}

int ElementType(const Port& port) {
  constexpr std::pair<const char*, const char*> kPrecisions[] = {
      {"FP32", "f32"}, {"FP16", "f16"}, {"I64", "i64"},     {"I32", "i32"},
      {"U8", "u8"},    {"I8", "i8"},    {"BOOL", "boolean"}};
  for (const auto& [precision, type] : kPrecisions) {
    if (port.precision == precision) return OnnxType(type);
  }
  return 0;
}

void AddInput(LayerNode& layer) {
  layer.Check(!layer.layer().outputs.empty(), "has no output");
  const Port& port = layer.layer().outputs[0];
  onnx::ValueInfoProto& input = *layer.state().model.mutable_graph()->add_input();
  input.set_name(layer.Out());
  auto& type = *input.mutable_type()->mutable_tensor_type();
  const int element = ElementType(port);
  if (element == 0) layer.Unsupported("is of type ", port.precision, ", which is not supported");
  type.set_elem_type(element);
  auto& shape = *type.mutable_shape();
  for (const int64_t dim : port.dims) {
    auto& added = *shape.add_dim();
    if (dim >= 0) added.set_dim_value(dim);
  }
}

void AddOutput(LayerNode& layer) {
  onnx::ValueInfoProto& output = *layer.state().model.mutable_graph()->add_output();
  output.set_name(layer.In(0));
  output.mutable_type()->mutable_tensor_type();
}

void Translate(LayerNode& layer) {
  const std::string& type = layer.layer().type;
  if (type == "Parameter") return AddInput(layer);
  if (type == "Result") return AddOutput(layer);
  layer.Check(!layer.layer().outputs.empty(), "has no output");
  if (type == "Const") {
    return AddInitializer(layer.state(), layer.layer(), layer.Out(), layer.layer().outputs[0].dims);
  }
  const auto found = Table().find(type);
  if (found != Table().end()) return found->second(layer);
  onnx::NodeProto& node = layer.Give(type.c_str(), {});
  node.set_domain("openvino");
  for (size_t i = 0; i < layer.InputCount(); ++i) node.add_input(layer.In(i));
  for (size_t i = 1; i < layer.layer().outputs.size(); ++i) node.add_output(layer.Out(i));
}

// Nodes and constants that no output needs: integers behind whose Convert nothing is left.
void DropUnused(onnx::GraphProto& graph) {
  std::map<std::string, int> makers;
  for (int n = 0; n < graph.node_size(); ++n) {
    for (const std::string& output : graph.node(n).output()) makers[output] = n;
  }
  std::set<std::string> used;
  std::vector<std::string> waiting;
  for (const auto& output : graph.output()) waiting.push_back(output.name());
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (!used.insert(name).second) continue;
    const auto maker = makers.find(name);
    if (maker == makers.end()) continue;
    const auto& node = graph.node(maker->second);
    waiting.insert(waiting.end(), node.input().begin(), node.input().end());
  }
  onnx::GraphProto kept;
  for (auto& node : *graph.mutable_node()) {
    bool needed = false;
    for (const std::string& output : node.output()) needed = needed || used.contains(output);
    if (needed) *kept.add_node() = std::move(node);
  }
  for (auto& tensor : *graph.mutable_initializer()) {
    if (used.contains(tensor.name())) *kept.add_initializer() = std::move(tensor);
  }
  graph.mutable_node()->Swap(kept.mutable_node());
  graph.mutable_initializer()->Swap(kept.mutable_initializer());
}

}  // namespace
}  // namespace openvino

onnx::ModelProto TranslateIr(std::span<const uint8_t> bytes, const std::string& folder,
                             const std::string& file) {
  openvino::State state;
  state.net = openvino::ReadIr(bytes);
  if (!file.empty()) {
    state.bin_name = std::filesystem::path(file).replace_extension(".bin").string();
    const std::string path = folder + "/" + state.bin_name;
    const auto& layers = state.net.layers;
    const bool needed = std::any_of(layers.begin(), layers.end(),
                                    [](const auto& layer) { return layer.type == "Const"; });
    if (needed) state.bin = MappedFile::Map(path);
  }
  state.model.set_ir_version(10);
  state.model.add_opset_import()->set_version(openvino::kOpset);
  onnx::GraphProto& graph = *state.model.mutable_graph();
  graph.set_name(state.net.name);
  state.flat.resize(state.net.layers.size());
  openvino::NameTensors(state);
  for (size_t n = 0; n < state.net.layers.size(); ++n) {
    openvino::LayerNode layer(state, n);
    openvino::Translate(layer);
  }
  openvino::DropUnused(graph);
  return std::move(state.model);
}

}  // namespace rshift
