#include "graph/openvino/ir.h"

#include <charconv>
#include <pugixml.hpp>
#include <string_view>

#include "base/error.h"
#include "graph/onnx/tensor.h"

namespace rshift::openvino {
namespace {

int64_t ReadDim(const pugi::xml_node& dim, const std::string& where) {
  const std::string text = dim.child_value();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  RSHIFT_REQUIRE(error == std::errc() && end == text.data() + text.size() && number >= -1,
                 ErrorCode::kInvalidInput, where, ": dimension ", Quoted(text),
                 " is not a number of elements");
  return number;
}

std::vector<Port> ReadPorts(const pugi::xml_node& ports, const std::string& where) {
  std::vector<Port> result;
  for (const pugi::xml_node port : ports.children("port")) {
    Port made{port.attribute("id").value(),
              port.attribute("precision").value(),
              {},
              port.attribute("names").value()};
    for (const pugi::xml_node dim : port.children("dim")) made.dims.push_back(ReadDim(dim, where));
    result.push_back(std::move(made));
  }
  return result;
}

Layer ReadLayer(const pugi::xml_node& node) {
  Layer layer;
  layer.id = node.attribute("id").value();
  layer.name = node.attribute("name").value();
  layer.type = node.attribute("type").value();
  layer.version = node.attribute("version").value();
  RSHIFT_REQUIRE(!layer.id.empty() && !layer.type.empty(), ErrorCode::kInvalidInput, "layer ",
                 Quoted(layer.name), " has no id or no type");
  if (layer.name.empty()) layer.name = layer.type + "_" + layer.id;
  for (const pugi::xml_attribute a : node.child("data").attributes())
    layer.data[a.name()] = a.value();
  const std::string where = "layer " + Quoted(layer.name);
  layer.inputs = ReadPorts(node.child("input"), where);
  layer.outputs = ReadPorts(node.child("output"), where);
  return layer;
}

size_t PlaceOf(const std::vector<Port>& ports, const std::string& id, const Layer& layer) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].id == id) return i;
  }
  Fail(ErrorCode::kInvalidInput, "an edge names port ", Quoted(id), " of layer ",
       Quoted(layer.name), ", which has no such port");
}

void ReadEdges(const pugi::xml_node& edges, const std::map<std::string, size_t>& by_id, Net* net) {
  const auto layer_of = [&](const pugi::xml_node& edge, const char* key) {
    const auto found = by_id.find(edge.attribute(key).value());
    RSHIFT_REQUIRE(found != by_id.end(), ErrorCode::kInvalidInput, "an edge names layer ",
                   Quoted(edge.attribute(key).value()), ", which is not there");
    return found->second;
  };
  std::vector<std::vector<bool>> seen;
  for (Layer& layer : net->layers) {
    layer.sources.resize(layer.inputs.size());
    seen.emplace_back(layer.inputs.size(), false);
  }
  for (const pugi::xml_node edge : edges.children("edge")) {
    const size_t from = layer_of(edge, "from-layer"), to = layer_of(edge, "to-layer");
    Layer& reader = net->layers[to];
    const size_t input = PlaceOf(reader.inputs, edge.attribute("to-port").value(), reader);
    RSHIFT_REQUIRE(!seen[to][input], ErrorCode::kInvalidInput, "input ", input, " of layer ",
                   Quoted(reader.name), " has two edges");
    seen[to][input] = true;
    reader.sources[input] = {from, PlaceOf(net->layers[from].outputs,
                                           edge.attribute("from-port").value(), net->layers[from])};
  }
  for (size_t n = 0; n < seen.size(); ++n) {
    for (size_t i = 0; i < seen[n].size(); ++i) {
      RSHIFT_REQUIRE(seen[n][i], ErrorCode::kInvalidInput, "input ", i, " of layer ",
                     Quoted(net->layers[n].name), " has no edge; the file may be cut short");
    }
  }
}

}  // namespace

bool IsIr(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view start = text.substr(0, 4096);
  return start.starts_with("<?xml") && start.find("<net") != std::string_view::npos;
}

Net ReadIr(std::span<const uint8_t> bytes) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(bytes.data(), bytes.size());
  RSHIFT_REQUIRE(parsed, ErrorCode::kInvalidInput, "byte ", parsed.offset,
                 ": not XML: ", parsed.description(), "; save the model again");
  const pugi::xml_node root = document.child("net");
  Net net;
  net.name = root.attribute("name").value();
  const std::string version = root.attribute("version").value();
  RSHIFT_REQUIRE(version == "10" || version == "11", ErrorCode::kUnsupported,
                 "is an OpenVINO IR of version ", Quoted(version),
                 ", expected 10 or 11; convert the model with a newer OpenVINO");
  std::map<std::string, size_t> by_id;
  for (const pugi::xml_node node : root.child("layers").children("layer")) {
    Layer layer = ReadLayer(node);
    RSHIFT_REQUIRE(by_id.emplace(layer.id, net.layers.size()).second, ErrorCode::kInvalidInput,
                   "layer id ", Quoted(layer.id), " is there twice");
    net.layers.push_back(std::move(layer));
  }
  RSHIFT_REQUIRE(!net.layers.empty(), ErrorCode::kInvalidInput, "the IR has no layers");
  ReadEdges(root.child("edges"), by_id, &net);
  return net;
}

}  // namespace rshift::openvino
