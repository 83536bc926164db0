#include "interop/qdq_export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

#include "base/error.h"
#include "graph/conv_or_matmul.h"
#include "graph/onnx/tensor.h"
#include "graph/passes/onnx_order.h"
#include "graph/passes/passes.h"
#include "interop/onnx_float_ops.h"
#include "interop/onnx_rows.h"
#include "interop/onnx_writer.h"
#include "quantize/types.h"

namespace rshift {
namespace {

enum class Form { kQdq, kFakeQuantize };

// Why a product has no form in ONNX: behind the name of what cannot be written.
constexpr const char* kSeveral =
    ": it became several products of the program, as the steps of an LSTM, GRU or RNN do, which "
    "cannot be written as ONNX yet; leave the option out";
constexpr const char* kOtherForm =
    ": its weights are held in another form than ONNX has, as those of an LSTM, GRU or RNN are, "
    "which cannot be written yet; leave the option out";

class Exporter {
 public:
  Exporter(const Graph& graph, const Graph& quantized, Form form)
      : graph_(graph), quantized_(quantized), form_(form), writer_(graph.name) {
    for (const Node& node : quantized.nodes()) {
      made_[node.name] = &node;
      if (std::holds_alternative<QConv>(node.op) || std::holds_alternative<QMatMul>(node.op))
        linear_[node.name].push_back(&node);
    }
    for (const Node& node : graph.nodes()) {
      if (node.inputs.size() > 1 && node.inputs[1].valid()) ++readers_[node.inputs[1]];
    }
  }

  std::string Model() {
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.value(id);
      writer_.AddInput(value.name, value.dtype, value.shape);
      Quantize(value.name, value.name);
    }
    for (const Node& node : graph_.nodes()) Write(node);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Value& value = graph_.value(graph_.outputs[i]);
      const std::string source =
          value.is_constant() ? Constant(value) : Real(value.name, IsInteger(value.name));
      // An input that is an output has its name already.
      if (!IsInput(graph_.output_names[i]))
        writer_.Node("Identity", {source}, graph_.output_names[i]);
      writer_.AddOutput(graph_.output_names[i], value.dtype, value.shape);
    }
    return writer_.Finish();
  }

 private:
  bool IsInput(const std::string& name) const {
    return std::any_of(graph_.inputs.begin(), graph_.inputs.end(),
                       [&](ValueId id) { return graph_.value(id).name == name; });
  }

  static bool HoldsBytes(const Value& value) {
    return value.quant && (value.dtype == DType::kS8 || value.dtype == DType::kU8);
  }
  // The bytes of a tensor in the program: its own value (a clamp may have named it anew), or the
  // Quantize of a float one. Null: it has none, as states of recurrent cells, which have 16 bits.
  const Value* Bytes(const std::string& name, std::initializer_list<const char*> suffixes) const {
    for (const char* suffix : suffixes) {
      const ValueId id = quantized_.FindValue(name + suffix);
      if (id.valid() && HoldsBytes(quantized_.value(id))) return &quantized_.value(id);
    }
    return nullptr;
  }
  const Value* Integers(const std::string& name) const {
    return Bytes(name, {"", "__clamped", "__q"});
  }
  // What makes it computes integers.
  bool IsInteger(const std::string& name) const {
    return Bytes(name, {"", "__clamped"}) != nullptr;
  }

  // A tensor of reals, as integer operators see it or as it was computed. No name of the writer's
  // own is a graph output: those are Identities.
  std::string Real(const std::string& name, bool quantized) const {
    return quantized && Integers(name) != nullptr ? name + "/dq" : Computed(name);
  }
  std::string Computed(const std::string& name) const {
    return IsInput(name) ? name : name + "/real";
  }

  std::string ZeroPoint(const std::string& name, const Value& type) {
    const bool is_signed = type.dtype == DType::kS8;
    const auto zero = static_cast<uint8_t>(type.quant->zero_point);
    return writer_.Raw(name + "/zero_point",
                       is_signed ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8, {},
                       std::array<uint8_t, 1>{zero});
  }

  void Quantize(const std::string& name, const std::string& source) {
    if (const Value* type = Integers(name); type != nullptr) QuantizeAs(*type, name, source);
  }

  // `name`/q and `name`/dq: `source` as integers of that type, and dequantized.
  void QuantizeAs(const Value& type, const std::string& name, const std::string& source) {
    if (form_ == Form::kFakeQuantize) {
      const IntType range{type.dtype, *type.quant};
      const std::array<float, 1> low = {End(range, range.qmin())},
                                 high = {End(range, range.qmax())};
      return FakeQuantize(source, name + "/dq", {}, low, high);
    }
    const std::string scale =
        writer_.Floats(name + "/scale", {}, std::array<float, 1>{type.quant->scale});
    const std::string zero = ZeroPoint(name, type);
    writer_.Node("QuantizeLinear", {source, scale, zero}, name + "/q");
    writer_.Node("DequantizeLinear", {name + "/q", scale, zero}, name + "/dq");
  }

  static float End(const IntType& type, int32_t q) {
    const auto steps = static_cast<double>(q - type.quant.zero_point);
    return static_cast<float>(steps * static_cast<double>(type.quant.scale));
  }

  void FakeQuantize(const std::string& source, const std::string& out, const Shape& shape,
                    std::span<const float> low, std::span<const float> high) {
    const std::string lo = writer_.Floats(out + "/low", shape, low);
    const std::string hi = writer_.Floats(out + "/high", shape, high);
    OnnxWriter::Set(
        writer_.Node("FakeQuantize", "org.openvinotoolkit", {source, lo, hi, lo, hi}, out),
        "levels", int64_t{256});
  }

  std::string Constant(const Value& value) {
    return writer_.Raw(value.name + "/const", OnnxType(value.dtype), value.shape,
                       value.constant->bytes);
  }

  // The node's product in the program. Other nodes may have its name, where a pass wrote several
  // for one; then weights are told apart by the name of the constant.
  const Node* LinearOf(const Node& node) const {
    const auto found = linear_.find(node.name);
    if (!IsConvOrMatMul(node.op) || found == linear_.end()) return nullptr;
    if (found->second.size() == 1) return found->second[0];
    const std::string& weights = graph_.value(node.inputs[1]).name;
    const Node* linear = nullptr;
    for (const Node* candidate : found->second) {
      const std::string& name = quantized_.value(candidate->inputs[1]).name;
      if (name != weights && name != weights + "__q") continue;
      RSHIFT_REQUIRE(linear == nullptr, ErrorCode::kUnsupported,
                     "--emit-qdq, --emit-fakequantize: ", node.name, kSeveral);
      linear = candidate;
    }
    RSHIFT_REQUIRE(linear != nullptr, ErrorCode::kUnsupported,
                   "--emit-qdq, --emit-fakequantize: ", node.name, kSeveral);
    return linear;
  }

  void Write(const Node& node) {
    const Value& y = graph_.value(node.outputs[0]);
    const Node* linear = LinearOf(node);
    // What follows a product may be part of it: then its own result is no tensor of the program.
    const bool integer = IsInteger(y.name) || linear != nullptr;
    std::vector<std::string> inputs;
    for (const ValueId id : node.inputs) {
      if (!id.valid()) {
        inputs.emplace_back();
      } else if (const Value& value = graph_.value(id); value.is_constant()) {
        const bool own = linear != nullptr && inputs.size() < 3;
        inputs.push_back(own ? Linear(node, *linear, inputs.size())
                             : Operand(node, value, integer));
      } else if (inputs.empty() && linear != nullptr && Integers(value.name) == nullptr) {
        // The program has its bytes under a name of their own.
        const std::string name = OwnName(node) + "/input";
        QuantizeAs(quantized_.value(linear->inputs[0]), name, Computed(value.name));
        inputs.push_back(name + "/dq");
      } else {
        inputs.push_back(Real(value.name, integer || IsInteger(value.name)));
      }
    }
    WriteFloatNode(graph_, node, inputs, y.name + "/real", &writer_);
    Quantize(y.name, y.name + "/real");
  }

  // Whether the integers are the constant's numbers, rounded or cut off, and not reciprocals,
  // slopes or what else a command holds.
  static bool StandsFor(const Value& integers, const Value& constant) {
    const IntType type{integers.dtype, *integers.quant};
    if (type == IntType{DType::kU8, {1.0f, 0}}) return false;  // places in a list of numbers
    const float least = End(type, type.qmin()), most = End(type, type.qmax());
    std::vector<float> wanted, held;
    for (const float real : constant.constant->As<float>())
      wanted.push_back(std::clamp(real, least, most));
    for (const uint8_t byte : integers.constant->bytes)
      held.push_back(End(type, type.dtype == DType::kS8 ? static_cast<int8_t>(byte) : byte));
    // In any order (NHWC); repeated numbers may stand there once.
    const bool same_size = wanted.size() == held.size();
    for (std::vector<float>* numbers : {&wanted, &held}) {
      std::ranges::sort(*numbers);
      if (!same_size && !numbers->empty()) *numbers = {numbers->front(), numbers->back()};
    }
    return std::ranges::equal(wanted, held, [&](float a, float b) {
      return std::fabs(a - b) <= 0.501f * type.quant.scale;
    });
  }

  // A constant operand as the node of the program has it: its integers, dequantized, or real
  // numbers.
  std::string Operand(const Node& node, const Value& constant, bool integer) {
    std::string real = Constant(constant);
    const auto made = made_.find(node.name);
    if (!integer || constant.dtype != DType::kF32 || made == made_.end()) return real;
    for (const ValueId id : made->second->inputs) {
      if (!id.valid()) continue;
      const Value& value = quantized_.value(id);
      if (!value.is_constant() || !value.quant || !value.name.starts_with(constant.name + "__q"))
        continue;
      if (!HoldsBytes(value) || !StandsFor(value, constant)) continue;
      const std::string name = node.name + "/" + constant.name;
      QuantizeAs(value, name, real);
      return name + "/dq";
    }
    return real;
  }

  // The integers of `w` in the order of ONNX.
  std::vector<uint8_t> InOnnxOrder(const Node& node, const Value& w) {
    const std::vector<uint8_t>& bytes = w.constant->bytes;
    if (!std::holds_alternative<MatMul>(node.op) || w.shape.size() != 2) return bytes;
    const std::vector<int64_t>& rows = OnnxRows(graph_.value(node.outputs[0]).name);
    const auto columns = static_cast<size_t>(w.shape[1]);
    std::vector<uint8_t> moved(bytes.size());
    for (size_t p = 0; p < rows.size(); ++p) {
      std::memcpy(moved.data() + static_cast<size_t>(rows[p]) * columns, bytes.data() + p * columns,
                  columns);
    }
    return moved;
  }

  // For each row of the weights that make `y` in the program, which one it is in ONNX.
  const std::vector<int64_t>& OnnxRows(const std::string& y) {
    if (rows_.empty()) rows_ = FindOnnxRows(graph_);
    const auto found = rows_.find(y);
    RSHIFT_REQUIRE(found != rows_.end(), ErrorCode::kUnsupported,
                   "--emit-qdq, --emit-fakequantize: the product '", y, "'", kOtherForm);
    return found->second;
  }

  // Weights or bias of a convolution or matrix product, dequantized.
  std::string Linear(const Node& node, const Node& integer, size_t input) {
    const Value& w = quantized_.value(integer.inputs[1]);
    RSHIFT_REQUIRE(w.origin != nullptr && w.dtype == DType::kS8 &&
                       w.shape == graph_.value(node.inputs[1]).shape,
                   ErrorCode::kUnsupported, "--emit-qdq, --emit-fakequantize: ", node.name,
                   kOtherForm);
    const bool is_conv = std::holds_alternative<Conv>(node.op);
    const int64_t axis = is_conv ? 0 : 1;
    const std::vector<float>& scales = w.origin->scales;
    const auto count = static_cast<int64_t>(scales.size());
    if (input == 2 && form_ == Form::kFakeQuantize) return Constant(graph_.value(node.inputs[2]));
    if (input == 2) {
      return Bias(node, scales, quantized_.value(integer.inputs[0]).quant->scale);
    }
    const std::vector<uint8_t> integers = InOnnxOrder(node, w);
    if (form_ == Form::kFakeQuantize) return FakeWeights(node, w, integers, axis);
    const Shape by_channel = count == 1 ? Shape{} : Shape{count};
    const std::string base = WeightsName(node);
    const std::string q = writer_.Raw(base + "/q", onnx::TensorProto::INT8, w.shape, integers);
    const std::string scale = writer_.Floats(base + "/scale", by_channel, scales);
    // Written though they are 0: ONNX Runtime's session.x64quantprecision asks for them.
    const std::string zero = writer_.Raw(base + "/zero_point", onnx::TensorProto::INT8, by_channel,
                                         std::vector<uint8_t>(scales.size()));
    std::string out = base + "/dq";
    OnnxWriter::Set(writer_.Node("DequantizeLinear", {q, scale, zero}, out), "axis", axis);
    return out;
  }

  // The constant's name, so that its scales find it again (interop/onnx_model.cc); of constants
  // that several nodes read, each with integers of its own, the node's.
  std::string WeightsName(const Node& node) const {
    const ValueId id = node.inputs[1];
    return readers_.at(id) == 1 ? graph_.value(id).name : OwnName(node) + "/weights";
  }

  // The node's; its result's, where other products have it.
  const std::string& OwnName(const Node& node) const {
    return linear_.at(node.name).size() == 1 ? node.name : graph_.value(node.outputs[0]).name;
  }

  // Multiples of the scales, and the FakeQuantize that leaves them as they are.
  std::string FakeWeights(const Node& node, const Value& w, const std::vector<uint8_t>& integers,
                          int64_t axis) {
    const std::vector<float>& scales = w.origin->scales;
    const std::span q(reinterpret_cast<const int8_t*>(integers.data()), integers.size());
    const auto inner = static_cast<size_t>(axis == 0 ? NumElements(w.shape) / w.shape[0] : 1);
    std::vector<float> reals(q.size()), low, high;
    for (size_t i = 0; i < q.size(); ++i) {
      const size_t c = scales.size() == 1 ? 0 : i / inner % scales.size();
      reals[i] = static_cast<float>(q[i]) * scales[c];
    }
    low.reserve(scales.size());
    high.reserve(scales.size());
    for (const float scale : scales) {
      low.push_back(-128 * scale);
      high.push_back(127 * scale);
    }
    Shape shape(scales.size() == 1 ? 0 : w.shape.size(), 1);
    if (!shape.empty()) shape[static_cast<size_t>(axis)] = static_cast<int64_t>(scales.size());
    const std::string base = WeightsName(node);
    std::string out = base + "/dq";
    FakeQuantize(writer_.Floats(base + "/q", w.shape, reals), out, shape, low, high);
    return out;
  }

  std::string Bias(const Node& node, const std::vector<float>& scales, float x) {
    const auto bias = graph_.value(node.inputs[2]).constant->As<float>();
    std::vector<float> units;
    std::vector<uint8_t> bytes(bias.size() * sizeof(int32_t));
    for (size_t c = 0; c < bias.size(); ++c) {
      const double unit = static_cast<double>(x) * scales[scales.size() == 1 ? 0 : c];
      units.push_back(static_cast<float>(unit));
      const auto q = static_cast<int32_t>(std::nearbyint(static_cast<double>(bias[c]) / unit));
      std::memcpy(bytes.data() + c * sizeof(q), &q, sizeof(q));
    }
    const Shape shape = {static_cast<int64_t>(bias.size())};
    const std::string base = OwnName(node) + "/bias";
    const std::string q = writer_.Raw(base, onnx::TensorProto::INT32, shape, bytes);
    const std::string scale = writer_.Floats(base + "_scale", shape, units);
    std::string out = base + "_dq";
    OnnxWriter::Set(writer_.Node("DequantizeLinear", {q, scale}, out), "axis", int64_t{0});
    return out;
  }

  const Graph& graph_;
  const Graph& quantized_;
  const Form form_;
  OnnxWriter writer_;
  std::map<std::string, const Node*> made_;                 // of the program, by name
  std::map<std::string, std::vector<const Node*>> linear_;  // its products, likewise
  std::map<ValueId, int> readers_;                          // of second inputs
  std::map<std::string, std::vector<int64_t>> rows_;        // by the product's result
};

void RequireFloats(const Graph& imported) {
  RSHIFT_REQUIRE(!HoldsQuantization(imported), ErrorCode::kUnsupported,
                 "--emit-qdq, --emit-fakequantize: the model holds QuantizeLinear and "
                 "DequantizeLinear already");
}

std::string Export(const Graph& imported, const Graph& quantized, const NodeBiases& biases,
                   Form form) {
  RequireFloats(imported);
  const Graph graph = SetBiases(RunPassesInOnnxOrder(imported), biases);
  return Exporter(graph, quantized, form).Model();
}

}  // namespace

void CheckQdqExport(const Graph& imported) {
  RequireFloats(imported);
  Exporter(RunPassesInOnnxOrder(imported), Graph(), Form::kQdq).Model();
}

std::string ExportQdq(const Graph& imported, const Graph& quantized, const NodeBiases& biases) {
  return Export(imported, quantized, biases, Form::kQdq);
}

std::string ExportFakeQuantize(const Graph& imported, const Graph& quantized,
                               const NodeBiases& biases) {
  return Export(imported, quantized, biases, Form::kFakeQuantize);
}

}  // namespace rshift
