// Scales of an ONNX model that holds QuantizeLinear and DequantizeLinear (ONNX Runtime, NNCF and
// others write such). Activations bear the name of what is quantized; weights the name of the
// dequantized constant, both without the endings that ONNX Runtime or --emit-qdq give them. Read
// only: --emit-qdq writes models. Source: ONNX's operators QuantizeLinear and DequantizeLinear.
#include <array>
#include <set>
#include <utility>

#include "base/error.h"
#include "graph/import.h"
#include "interop/format_list.h"
#include "interop/model_names.h"
#include "interop/onnx_writer.h"

namespace rshift {
namespace {

// ModelProto begins with ir_version.
bool Recognise(const std::string& text) {
  return text.size() > 4 && text[0] == 0x08 && text[1] >= 1 && text[1] < 32;
}

// Endings that name what stands between a tensor and its QuantizeLinear or behind its
// DequantizeLinear: ONNX Runtime's, and those of --emit-qdq.
constexpr std::array<const char*, 4> kTheirs = {"_DequantizeLinear_Output", "_DequantizeLinear",
                                                "_dequantized", "_QuantizeLinear_Input"};
constexpr std::array<const char*, 2> kOurs = {"/real", "/dq"};

template <typename Endings>
std::string WithoutEnding(const std::string& name, const Endings& endings) {
  for (const char* text : endings) {
    const std::string ending = text;
    if (name.ends_with(ending) && name.size() > ending.size())
      return name.substr(0, name.size() - ending.size());
  }
  return name;
}

void SetIntegers(DType type, int bits, ScaleEntry* entry) {
  entry->bits = bits;
  entry->is_signed = type == DType::kS8 || type == DType::kS16;
}

// Of 16 bits those about the middle: the import makes others numbers in F32.
ScaleEntry Activation(const Graph& graph, const Node& node) {
  const Value& q = graph.value(node.outputs[0]);
  ScaleEntry entry{.name = graph.value(node.inputs[0]).name};
  entry.scales = {static_cast<double>(q.quant->scale)};
  if (q.quant->zero_point != 0) entry.zero_points = {q.quant->zero_point};
  SetIntegers(q.dtype, 8 * static_cast<int>(SizeOf(q.dtype)), &entry);
  return entry;
}

ScaleEntry Weights(const Value& value) {
  const QuantizedOrigin& origin = *value.origin;
  ScaleEntry entry{.name = value.name, .subject = Subject::kWeights};
  for (const float scale : origin.scales) entry.scales.push_back(static_cast<double>(scale));
  entry.zero_points.assign(origin.zero_points.begin(), origin.zero_points.end());
  if (IsCentred(entry)) entry.zero_points.clear();
  entry.axis = static_cast<int>(origin.axis);
  SetIntegers(origin.dtype, SizeOf(origin.dtype) == 1 ? origin.bits : 16, &entry);
  return entry;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  const Graph graph = ImportOnnx(where);
  const bool ours =
      ReadModelNames({reinterpret_cast<const uint8_t*>(text.data()), text.size()}).producer ==
      kOnnxProducer;
  ScaleSet set;
  std::set<std::pair<Subject, std::string>> known;
  const auto add = [&](ScaleEntry entry) {
    entry.name = ours ? WithoutEnding(entry.name, kOurs) : WithoutEnding(entry.name, kTheirs);
    if (known.emplace(entry.subject, entry.name).second) set.entries.push_back(std::move(entry));
  };
  for (const Node& node : graph.nodes()) {
    if (std::holds_alternative<Quantize>(node.op) && graph.value(node.outputs[0]).quant)
      add(Activation(graph, node));
  }
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (value.origin && value.origin->dtype != DType::kS32) add(Weights(value));
  }
  RSHIFT_REQUIRE(
      !set.entries.empty(), ErrorCode::kInvalidInput, where,
      ": no QuantizeLinear or DequantizeLinear of bytes, or of 16 bits with a zero point in "
      "the middle, in the model, so it holds no scales");
  return set;
}

}  // namespace

const ScaleFormat kOnnxModel = {
    "onnx-qdq", "scales of an ONNX model with QuantizeLinear", ".onnx", Recognise, Read, nullptr};

}  // namespace rshift
