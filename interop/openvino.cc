// Ranges of an OpenVINO model (.xml, its constants in the .bin beside it): the FakeQuantize layers,
// as NNCF puts them before what computes in integers. The range of a layer is its input range; the
// tensor bears the first name of the port it reads ("names"), which is the ONNX name in converted
// models, else the name of the layer that makes it. Read only.
// Sources: OpenVINO's documentation, "Operation set: FakeQuantize" and "Model representation (IR)";
// models saved by OpenVINO 2026.4 with NNCF 3.4.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <pugixml.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/half.h"
#include "interop/format_list.h"

namespace rshift {
namespace {

using Port = std::pair<std::string, std::string>;  // ids of layer and port

struct Ir {
  std::string where;
  std::map<std::string, pugi::xml_node> layers = {};  // by id
  std::vector<std::string> ids = {};                  // in the file's order
  std::map<Port, Port> sources = {};                  // of inputs
  std::string bin = {};
};

bool Recognise(const std::string& text) {
  return text.find("<net ") != std::string::npos && text.find("<layers>") != std::string::npos;
}

std::string BinPath(const std::string& where) {
  return where.ends_with(".xml") ? where.substr(0, where.size() - 4) + ".bin" : where + ".bin";
}

Ir Parse(const std::string& text, const std::string& where, pugi::xml_document* document) {
  const pugi::xml_parse_result result = document->load_buffer(text.data(), text.size());
  RSHIFT_REQUIRE(result, ErrorCode::kInvalidInput, where, ": byte ", result.offset,
                 ": not XML: ", result.description());
  Ir ir{.where = where};
  const pugi::xml_node net = document->child("net");
  for (const pugi::xml_node layer : net.child("layers").children("layer")) {
    ir.ids.emplace_back(layer.attribute("id").value());
    ir.layers[ir.ids.back()] = layer;
  }
  for (const pugi::xml_node edge : net.child("edges").children("edge")) {
    const auto text_of = [&](const char* key) { return std::string(edge.attribute(key).value()); };
    ir.sources[{text_of("to-layer"), text_of("to-port")}] = {text_of("from-layer"),
                                                             text_of("from-port")};
  }
  return ir;
}

std::vector<double> Elements(const std::string& type, const char* bytes, size_t size,
                             const std::string& what) {
  std::vector<double> numbers;
  const size_t width = type == "f32" ? 4 : 2;
  RSHIFT_REQUIRE(type == "f32" || type == "f16", ErrorCode::kUnsupported, what,
                 ": a range of type ", type, ", expected f32 or f16");
  for (size_t at = 0; at + width <= size; at += width) {
    if (width == 4) {
      float value = 0;
      std::memcpy(&value, bytes + at, sizeof(value));
      numbers.push_back(static_cast<double>(value));
    } else {
      uint16_t half = 0;
      std::memcpy(&half, bytes + at, sizeof(half));
      numbers.push_back(static_cast<double>(HalfToFloat(half)));
    }
  }
  return numbers;
}

// The layer behind an input, through Convert.
pugi::xml_node SourceOf(const Ir& ir, const std::string& layer, const std::string& port,
                        std::string* from_port = nullptr) {
  const auto edge = ir.sources.find({layer, port});
  RSHIFT_REQUIRE(edge != ir.sources.end() && ir.layers.contains(edge->second.first),
                 ErrorCode::kInvalidInput, ir.where, ": nothing feeds port ", port, " of layer ",
                 layer);
  if (from_port != nullptr) *from_port = edge->second.second;
  return ir.layers.at(edge->second.first);
}

std::vector<double> ConstantInput(const Ir& ir, const std::string& id, int port) {
  pugi::xml_node layer = SourceOf(ir, id, std::to_string(port));
  if (std::string(layer.attribute("type").value()) == "Convert")
    layer = SourceOf(ir, layer.attribute("id").value(), "0");
  const std::string what = Cat(ir.where, ": '", layer.attribute("name").value(), "'");
  RSHIFT_REQUIRE(std::string(layer.attribute("type").value()) == "Const", ErrorCode::kUnsupported,
                 what, ": a range that is computed, expected a constant");
  const pugi::xml_node data = layer.child("data");
  const uint64_t offset = data.attribute("offset").as_ullong();
  const uint64_t size = data.attribute("size").as_ullong();
  RSHIFT_REQUIRE(offset <= ir.bin.size() && size <= ir.bin.size() - offset && size > 0,
                 ErrorCode::kInvalidInput, what, ": bytes ", offset, "..", offset + size,
                 " of a file of ", ir.bin.size(), "; is ", BinPath(ir.where), " the model's?");
  return Elements(data.attribute("element_type").value(), ir.bin.data() + offset, size, what);
}

// What the first input of the layer is called.
std::string TensorName(const Ir& ir, const std::string& id) {
  std::string port;
  const pugi::xml_node maker = SourceOf(ir, id, "0", &port);
  for (const pugi::xml_node output : maker.child("output").children("port")) {
    const std::string names = output.attribute("names").value();
    if (port == output.attribute("id").value() && !names.empty())
      return names.substr(0, names.find(','));
  }
  return maker.attribute("name").value();
}

bool IsConstant(const Ir& ir, const std::string& id) {
  pugi::xml_node layer = SourceOf(ir, id, "0");
  if (std::string(layer.attribute("type").value()) == "Convert")
    layer = SourceOf(ir, layer.attribute("id").value(), "0");
  return std::string(layer.attribute("type").value()) == "Const";
}

ScaleEntry EntryOf(const Ir& ir, const pugi::xml_node& layer) {
  const std::string id = layer.attribute("id").value();
  ScaleEntry entry{.name = TensorName(ir, id)};
  if (IsConstant(ir, id)) entry.subject = Subject::kWeights;
  entry.low = ConstantInput(ir, id, 1);
  entry.high = ConstantInput(ir, id, 2);
  const int levels = layer.child("data").attribute("levels").as_int();
  RSHIFT_REQUIRE(levels >= 2, ErrorCode::kInvalidInput, ir.where, ": '",
                 layer.attribute("name").value(), "': ", levels, " levels, expected 2 or more");
  entry.bits = std::max(2, static_cast<int>(std::ceil(std::log2(levels))));
  entry.axis = entry.low.size() > 1 ? (entry.subject == Subject::kWeights ? 0 : 1) : -1;
  return entry;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  pugi::xml_document document;
  Ir ir = Parse(text, where, &document);
  ScaleSet set;
  for (const std::string& id : ir.ids) {
    const pugi::xml_node layer = ir.layers.at(id);
    if (std::string(layer.attribute("type").value()) != "FakeQuantize") continue;
    if (ir.bin.empty()) ir.bin = ReadTextFile(BinPath(where));
    ScaleEntry entry = EntryOf(ir, layer);
    // Several readers may have a FakeQuantize of their own on the same tensor.
    const auto same = std::find_if(set.entries.begin(), set.entries.end(), [&](const auto& other) {
      return other.name == entry.name && other.subject == entry.subject;
    });
    if (same == set.entries.end()) {
      set.entries.push_back(std::move(entry));
    } else {
      RSHIFT_REQUIRE(same->low == entry.low && same->high == entry.high, ErrorCode::kUnsupported,
                     where, ": '", entry.name,
                     "' has FakeQuantize layers with different ranges, expected one range");
    }
  }
  RSHIFT_REQUIRE(!set.entries.empty(), ErrorCode::kInvalidInput, where,
                 ": no FakeQuantize layer; quantize the model with NNCF first");
  return set;
}

}  // namespace

const ScaleFormat kOpenVinoIr = {
    "openvino", "FakeQuantize ranges of an OpenVINO model (NNCF), .xml", ".xml", Recognise, Read,
    nullptr};

}  // namespace rshift
