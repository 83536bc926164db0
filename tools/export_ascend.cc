#include "tools/export_ascend.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/half.h"
#include "base/number_text.h"
#include "graph/op.h"
#include "interop/json_file.h"
#include "quantize/numerics/ascend.h"
#include "quantize/numerics/float_scale.h"

namespace rshift {
namespace {

template <typename T>
std::string Bytes(const std::vector<T>& elements) {
  std::string bytes(elements.size() * sizeof(T), '\0');
  if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

const char* RoundModeName(RealRounding mode) {
  switch (mode) {
    case RealRounding::kEven:
      return "Round";
    case RealRounding::kAway:
      return "Away";
    case RealRounding::kFloor:
      return "Floor";
    case RealRounding::kCeil:
      return "Ceiling";
    case RealRounding::kTruncate:
      return "Truncate";
  }
  return "?";
}

// What a QConv and a QMatMul have alike.
struct Layer {
  const Node* node = nullptr;
  const char* type = "";
  const std::vector<ChannelRequant>* channels = nullptr;
  HalfEpilogue half;
  Json attributes = Json::object();
  Shape shape;  // of the weights in the file
  std::vector<int8_t> weights;
};

Json WindowJson(const Window& w, int64_t groups) {
  return {{"strides", {1, 1, w.stride_h, w.stride_w}},
          {"pads", {w.pad_top, w.pad_bottom, w.pad_left, w.pad_right}},
          {"dilations", {1, 1, w.dilation_h, w.dilation_w}},
          {"groups", groups},
          {"data_format", "NCHW"}};
}

class Exporter {
 public:
  explicit Exporter(const Graph& graph) : graph_(graph), producers_(graph.Producers()) {}

  AscendFiles Export() {
    files_.manifest = {{"rshift_ascend", 1}, {"layers", Json::array()}};
    for (const Node& node : graph_.nodes()) {
      if (const std::optional<Layer> layer = LayerOf(node)) Add(*layer);
    }
    RSHIFT_REQUIRE(!files_.content.empty(), ErrorCode::kInvalidInput,
                   "export: no layer is quantized under profile ascend (model_deploy --report-json "
                   "says why of each); nothing is written");
    return std::move(files_);
  }

 private:
  std::optional<Layer> LayerOf(const Node& node) const {
    Layer layer;
    layer.node = &node;
    if (const auto* conv = std::get_if<QConv>(&node.op)) {
      if (conv->rounding != Rounding::kHalfFloat) return std::nullopt;
      const Value& w = graph_.value(node.inputs[1]);
      const bool depthwise = conv->groups > 1 && w.shape[1] == 1;
      layer.type = depthwise ? "DepthwiseConv2D" : "Conv2D";
      layer.channels = &conv->channels;
      layer.half = conv->half;
      layer.attributes = WindowJson(conv->window, conv->groups);
      layer.shape = w.shape;
      const auto bytes = w.constant->As<int8_t>();
      layer.weights.assign(bytes.begin(), bytes.end());
      return layer;
    }
    const auto* matmul = std::get_if<QMatMul>(&node.op);
    if (matmul == nullptr || matmul->rounding != Rounding::kHalfFloat) return std::nullopt;
    layer.type = "FullyConnection";
    layer.channels = &matmul->channels;
    layer.half = matmul->half;
    const Value& w = graph_.value(node.inputs[1]);  // [K, N]; in the file [N, K]
    const int64_t k = w.shape[0], n = w.shape[1];
    layer.shape = {n, k};
    const auto bytes = w.constant->As<int8_t>();
    for (int64_t column = 0; column < n; ++column) {
      for (int64_t row = 0; row < k; ++row) layer.weights.push_back(bytes[row * n + column]);
    }
    return layer;
  }

  const Node* Producer(ValueId id) const {
    const NodeId producer = producers_[id.index()];
    return producer.valid() ? &graph_.node(producer) : nullptr;
  }

  // AscendQuant before a layer: of the layer that made its bytes, or by the steps of its definition
  // (Emitter::AddQuantize).
  HalfEpilogue QuantOf(ValueId x) const {
    HalfEpilogue quant;
    quant.quant_scale = static_cast<float>(1.0 / static_cast<double>(graph_.value(x).quant->scale));
    const Node* node = Producer(x);
    if (node == nullptr) return quant;
    if (const auto* conv = std::get_if<QConv>(&node->op)) return conv->half;
    if (const auto* matmul = std::get_if<QMatMul>(&node->op)) return matmul->half;
    int products = 0;
    for (; node != nullptr; node = Producer(node->inputs[0])) {
      if (const auto* quantize = std::get_if<Quantize>(&node->op)) quant.mode = quantize->rounding;
      const auto* binary = std::get_if<Binary>(&node->op);
      if (binary != nullptr && binary->op == BinaryOp::kMul) {
        quant.quant_scale = graph_.value(node->inputs[1]).constant->As<float>()[0];
        quant.sqrt_quant = ++products == 2;
      }
      const bool step = std::holds_alternative<QTable>(node->op) ||
                        std::holds_alternative<Quantize>(node->op) ||
                        (binary != nullptr && graph_.value(node->inputs[1]).is_constant());
      if (!step || products == 2) break;
    }
    return quant;
  }

  std::string Folder(const std::string& node) const {
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "%03zu_", files_.manifest["layers"].size());
    std::string name = number.data() + node;
    for (char& c : name) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
      if (!plain) c = '_';
    }
    return name;
  }

  void AddFile(Json* entry, const std::string& what, const std::string& path, const char* type,
               const Shape& shape, std::string bytes) {
    (*entry)["files"][what] = {{"file", path}, {"type", type}, {"shape", shape}};
    files_.content.emplace_back(path, std::move(bytes));
  }

  void Add(const Layer& layer) {
    const Node& node = *layer.node;
    const Value &x = graph_.value(node.inputs[0]), &w = graph_.value(node.inputs[1]);
    const HalfEpilogue quant = QuantOf(node.inputs[0]);
    const std::string folder = Folder(node.name) + "/";
    const auto channels = static_cast<int64_t>(layer.channels->size());
    std::vector<int32_t> bias;
    std::vector<float> deq;
    std::vector<uint16_t> half_bias;
    bool adds_bias = false;
    for (const ChannelRequant& channel : *layer.channels) {
      bias.push_back(channel.bias);
      deq.push_back(numerics::WordToFloat(channel.multiplier));
      half_bias.push_back(FloatToHalf(numerics::WordToFloat(channel.rshift)));
      adds_bias = adds_bias || channel.rshift != 0;
    }
    Json entry = {{"name", node.name},
                  {"type", layer.type},
                  {"x", x.name},
                  {"y", graph_.value(node.outputs[0]).name},
                  {"attributes", layer.attributes}};
    entry["ascend_quant"] = {{"scale", quant.quant_scale},
                             {"offset", x.quant->zero_point},
                             {"sqrt_mode", quant.sqrt_quant},
                             {"round_mode", RoundModeName(quant.mode)}};
    const bool flag = layer.half.relu_flag || (layer.half.relu && !adds_bias);
    entry["ascend_dequant"] = {{"sqrt_mode", layer.half.sqrt_dequant}, {"relu_flag", flag}};
    entry["relu_behind_bias"] = layer.half.relu && adds_bias;
    AddFile(&entry, "weights", folder + "const_0.bin", "int8", layer.shape, Bytes(layer.weights));
    AddFile(&entry, "bias", folder + "const_1.bin", "int32", {channels}, Bytes(bias));
    std::vector<uint64_t> words;
    words.reserve(deq.size());
    for (float scale : deq) words.push_back(numerics::PackAscendDeqScale({scale, 0, 0}));
    AddFile(&entry, "deq_scale", folder + "const_2.bin", "uint64", {channels}, Bytes(words));
    if (adds_bias) {
      AddFile(&entry, "bias_add", folder + "bias_add.bin", "float16", {channels}, Bytes(half_bias));
    }
    AddFile(&entry, "scale_d", folder + "scale_d.bin", "float32", {1},
            Bytes(std::vector<float>{x.quant->scale}));
    AddFile(&entry, "offset_d", folder + "offset_d.bin", "float32", {1},
            Bytes(std::vector<float>{static_cast<float>(x.quant->zero_point)}));
    AddFile(&entry, "scale_w", folder + "scale_w.bin", "float32",
            {static_cast<int64_t>(w.origin->scales.size())}, Bytes(w.origin->scales));
    AddRecord(node.name, x, w);
    files_.manifest["layers"].push_back(std::move(entry));
  }

  void AddRecord(const std::string& name, const Value& x, const Value& w) {
    files_.records += "record {\n  key: \"" + name +
                      "\"\n  value {\n    scale_d: " + ShortestText(x.quant->scale) +
                      "\n    offset_d: " + std::to_string(x.quant->zero_point) + "\n";
    for (float scale : w.origin->scales)
      files_.records += "    scale_w: " + ShortestText(scale) + "\n";
    files_.records += "  }\n}\n";
  }

  const Graph& graph_;
  const std::vector<NodeId> producers_;
  AscendFiles files_;
};

}  // namespace

AscendFiles ExportAscend(const Graph& graph) { return Exporter(graph).Export(); }

}  // namespace rshift
