// Models that hold their own quantization: where the types come from, what becomes integer, what
// stays F32 and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "isa/attributes.h"
#include "quantize/plan.h"
#include "quantize/quantize.h"
#include "tests/base/error_of.h"
#include "tests/quantize/interpreter.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Clamp kRelu{0.0f, kInfinity};

// Builds QDQ graphs: x -> Q -> "x_q" -> DQ -> "x_dq".
class Qdq {
 public:
  ValueId Input(const std::string& name, Shape shape, DType dtype = DType::kF32) {
    const ValueId id = Value(name, std::move(shape), dtype);
    graph.inputs.push_back(id);
    return id;
  }
  ValueId Op(const std::string& name, rshift::Op op, std::vector<ValueId> inputs, Shape shape) {
    const ValueId id = Value(name, std::move(shape), DType::kF32);
    graph.AddNode({name + "_node", std::move(op), std::move(inputs), {id}});
    return id;
  }
  ValueId Q(const std::string& name, ValueId x, QuantParams quant, DType dtype = DType::kS8) {
    const ValueId id = Value(name, graph.value(x).shape, dtype);
    graph.value(id).quant = quant;
    graph.AddNode({name + "_node", Quantize{}, {x}, {id}});
    return id;
  }
  ValueId Dq(const std::string& name, ValueId q) {
    return Op(name, Dequantize{}, {q}, graph.value(q).shape);
  }
  // Quantized and dequantized: "<name>_q", "<name>_dq".
  ValueId Trip(const std::string& name, ValueId x, QuantParams quant, DType dtype = DType::kS8) {
    return Dq(name + "_dq", Q(name + "_q", x, quant, dtype));
  }
  ValueId Random(const std::string& name, Shape shape) {
    std::vector<float> values(NumElements(shape));
    for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(random_);
    return graph.AddConstant<float>(name, DType::kF32, std::move(shape), values);
  }
  QuantizeResult Quantized(const QuantizeOptions& options = {}) {
    return QuantizeGraph(Done(), {}, options);
  }
  const Graph& Done(std::vector<ValueId> outputs) {
    for (ValueId id : outputs) {
      graph.outputs.push_back(id);
      graph.output_names.push_back(graph.value(id).name);
    }
    return Done();
  }
  const Graph& Done() {
    graph.Check();
    return graph;
  }

  Graph graph;

 private:
  ValueId Value(const std::string& name, Shape shape, DType dtype) {
    rshift::Value value{name, dtype, std::move(shape), Layout::kPlain, {}, nullptr};
    if (value.shape.size() == 4) value.layout = Layout::kNhwc;
    return graph.AddValue(std::move(value));
  }
  std::mt19937 random_{7};
};

std::string Ops(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes())
    text += (text.empty() ? "" : " ") + std::string(OpName(node.op));
  return text;
}

std::string MessageOf(Qdq& net, const QuantizeOptions& options) {
  return ErrorOf([&] { net.Quantized(options); });
}

// x [1,4,4,2] -> Conv 1x1 to 3 channels, between Quantize and Dequantize.
struct ConvNet : Qdq {
  explicit ConvNet(QuantParams x = {0.01f, 3}, QuantParams y = {0.02f, -5}) {
    const ValueId input = Trip("x", Input("x", {1, 4, 4, 2}), x);
    const ValueId c = Op("c", Conv{{}, 1, kRelu},
                         {input, Random("w", {3, 2, 1, 1}), Random("b", {3})}, {1, 4, 4, 3});
    Done({Trip("y", c, y)});
  }
};

// Largest difference, in units of the output, between the QDQ graph as floats and its integers.
double WorstUnits(const Graph& qdq, const QuantizeResult& result, const std::string& output,
                  float scale) {
  std::mt19937 random(3);
  double worst = 0;
  for (int run = 0; run < 20; ++run) {
    Tensors inputs;
    for (ValueId id : qdq.inputs) {
      const bool bytes = qdq.value(id).dtype != DType::kF32;
      Tensor tensor{qdq.value(id).shape, {}};
      for (int64_t i = 0; i < NumElements(tensor.shape); ++i) {
        tensor.data.push_back(
            bytes ? std::floor(std::uniform_real_distribution<double>(0, 100)(random))
                  : std::uniform_real_distribution<float>(-1.5f, 1.5f)(random));
      }
      inputs[qdq.value(id).name] = std::move(tensor);
    }
    const Tensor expected = Execute(qdq, inputs).at(output);
    const Tensor actual = Execute(result.graph, inputs).at(output);
    for (size_t i = 0; i < expected.data.size(); ++i) {
      worst = std::max(worst, std::fabs(expected.data[i] - actual.data[i]) / scale);
    }
  }
  return worst;
}

TEST(QdqTest, TypesAndNamesAreTheModelsOwn) {
  ConvNet net;
  EXPECT_TRUE(HoldsQuantization(net.graph));
  const QuantizeResult r = net.Quantized();
  EXPECT_EQ(Ops(r.graph), "Quantize QConv Dequantize");
  EXPECT_EQ(r.mode, QuantMode::kAsymmetric);
  const Value& y = r.graph.value(r.graph.FindValue("y_q"));
  EXPECT_EQ(y.dtype, DType::kS8);
  EXPECT_EQ(y.quant, (QuantParams{0.02f, -5}));
  EXPECT_EQ(Only<QConv>(r.graph).clamp.lo, -5);  // Relu: the real 0
  EXPECT_EQ(r.graph.value(r.graph.outputs[0]).name, "y_dq");
  EXPECT_TRUE(r.report.float_nodes.empty());
  std::vector<std::string> sources;
  for (const auto& t : r.report.type_sources) sources.push_back(t.tensor + ": " + t.source);
  EXPECT_THAT(sources, ElementsAre("x_q: QuantizeLinear x_q_node", "y_q: QuantizeLinear y_q_node"));
  EXPECT_LE(WorstUnits(net.graph, r, "y_dq", 0.02f), 1.001);
}

TEST(QdqTest, UnsignedAndMixedTypes) {
  Qdq net;
  const ValueId x = net.Trip("x", net.Input("x", {1, 4, 4, 2}), {0.01f, 100}, DType::kU8);
  const ValueId c = net.Op("c", Conv{}, {x, net.Random("w", {3, 2, 1, 1})}, {1, 4, 4, 3});
  const ValueId r = net.Op("r", Clip{kRelu}, {net.Trip("c", c, {0.02f, 7})}, {1, 4, 4, 3});
  net.Done({net.Trip("r", r, {0.01f, 0}, DType::kU8)});
  const QuantizeResult result = net.Quantized();
  EXPECT_EQ(Ops(result.graph), "Quantize QConv Requantize Dequantize");
  EXPECT_EQ(result.graph.value(result.graph.FindValue("x_q")).dtype, DType::kU8);
  EXPECT_EQ(result.graph.value(result.graph.FindValue("c_q")).dtype, DType::kS8);
  EXPECT_EQ(result.graph.value(result.graph.FindValue("r_q")).dtype, DType::kU8);
  EXPECT_LE(WorstUnits(net.graph, result, "r_dq", 0.01f), 3.01);  // one unit of c_q is two of r_q
}

TEST(QdqTest, QuantizeOfDequantizeIsNothingOrARequantize) {
  Qdq net;
  const ValueId x = net.Trip("x", net.Input("x", {1, 8}), {0.01f, 3});
  const ValueId same = net.Trip("same", x, {0.01f, 3});
  const ValueId other = net.Trip("other", x, {0.02f, -1});
  net.Done({same, other});
  const QuantizeResult r = net.Quantized();
  EXPECT_EQ(Ops(r.graph), "Quantize Requantize Dequantize Dequantize");
  EXPECT_EQ(WorstUnits(net.graph, r, "same_dq", 0.01f), 0);
  EXPECT_LE(WorstUnits(net.graph, r, "other_dq", 0.02f), 1.001);  // ties
}

TEST(QdqTest, DataMovementBetweenDequantizeAndQuantizeMovesBytes) {
  Qdq net;
  const ValueId x = net.Trip("x", net.Input("x", {1, 4, 4, 2}), {0.01f, 3});
  Window window;
  window.kernel_h = window.kernel_w = window.stride_h = window.stride_w = 2;
  const ValueId p = net.Op("p", MaxPool{window}, {x}, {1, 2, 2, 2});
  const ValueId flat = net.Op("flat", Reshape{}, {net.Trip("p", p, {0.01f, 3})}, {1, 8});
  net.Done({net.Trip("flat", flat, {0.01f, 3})});
  const QuantizeResult r = net.Quantized();
  EXPECT_EQ(Ops(r.graph), "Quantize MaxPool Reshape Dequantize");
  EXPECT_TRUE(r.graph.FindValue("p_q").valid());
  EXPECT_TRUE(r.graph.FindValue("flat_q").valid());
  EXPECT_EQ(WorstUnits(net.graph, r, "flat_dq", 0.01f), 0);
}

// A Transpose of the layout pass stands between Dequantize and Conv, without a Quantize behind it.
TEST(QdqTest, MovedBytesNeedNoQuantizeBehindThem) {
  Qdq net;
  const ValueId x = net.Trip("x", net.Input("x", {3, 8}), {0.01f, 3});
  const ValueId t = net.Op("t", Transpose{{1, 0}}, {x}, {8, 3});
  const ValueId m = net.Op("m", MatMul{}, {t, net.Random("w", {3, 5})}, {8, 5});
  net.Done({net.Trip("m", m, {0.02f, 0})});
  const QuantizeResult r = net.Quantized();
  EXPECT_EQ(Ops(r.graph), "Quantize Transpose QMatMul Dequantize");
  EXPECT_EQ(r.graph.value(r.graph.FindValue("t")).quant, (QuantParams{0.01f, 3}));
  EXPECT_THAT(r.report.type_sources.at(1).source, "moved from x_q");
}

TEST(QdqTest, PadsAreBytesWhereTheirValueIsOne) {
  for (const float value : {0.0f, 0.003f}) {
    Qdq net;
    const ValueId x = net.Trip("x", net.Input("x", {1, 8}), {0.01f, 3});
    const ValueId p = net.Op("p", Pad{PadMode::kConstant, {0, 1}, {0, 1}, value}, {x}, {1, 10});
    const ValueId m = net.Op("m", MatMul{}, {p, net.Random("w", {10, 2})}, {1, 2});
    net.Done({net.Trip("m", m, {0.02f, 0})});
    const QuantizeResult r = net.Quantized();
    EXPECT_EQ(Count<QMatMul>(r.graph), value == 0 ? 1 : 0) << value;
    EXPECT_EQ(r.report.float_nodes.size(), value == 0 ? 0u : 2u) << value;
  }
}

TEST(QdqTest, NodesWithoutQuantizeAroundThemStayFloatAndSayWhy) {
  const auto reason = [](Qdq& net) {
    const QuantizeResult r = net.Quantized();
    return r.report.float_nodes.empty() ? "none" : r.report.float_nodes[0].reason;
  };
  const auto matmul = [](Qdq& net, ValueId x, const std::string& name = "m") {
    return net.Op(name, MatMul{}, {x, net.Random(name + "_w", {8, 8})}, {1, 8});
  };
  const std::string floats = ", and its weights are not quantized to 8 bits";
  {
    Qdq net;
    net.Done({matmul(net, net.Trip("x", net.Input("x", {1, 8}), {0.01f, 0}))});
    EXPECT_EQ(reason(net), "its result leaves the model in F32" + floats);
  }
  {
    Qdq net;
    const ValueId m = matmul(net, net.Trip("x", net.Input("x", {1, 8}), {0.01f, 0}));
    const ValueId s = net.Op("s", Softmax{1, true}, {m}, {1, 8});
    net.Done({s, net.Trip("m", m, {0.02f, 0})});
    EXPECT_EQ(reason(net), "no QuantizeLinear behind it: s_node reads its result in F32" + floats);
  }
  {
    Qdq net;
    const ValueId m = matmul(net, net.Trip("x", net.Input("x", {1, 8}), {0.01f, 0}));
    net.Done({net.Trip("m1", m, {0.02f, 0}), net.Trip("m2", m, {0.02f, 1})});
    EXPECT_EQ(reason(net), "the QuantizeLinear nodes behind it have different parameters" + floats);
  }
  {
    Qdq net;
    const ValueId m = matmul(net, net.Input("x", {1, 8}));
    net.Done({net.Trip("m", m, {0.02f, 0})});
    EXPECT_EQ(reason(net), "no DequantizeLinear before it: 'x' is computed in F32");
  }
}

TEST(QdqTest, FloatNodesRunBetweenTheModelsOwnQuantizeAndDequantize) {
  Qdq net;
  const ValueId x = net.Trip("x", net.Input("x", {1, 8}), {0.01f, 3});
  const ValueId l = net.Op("l", Softmax{1, true}, {x}, {1, 8});
  const ValueId s =
      net.Op("s", Unary{UnaryOp::kSigmoid, 0, 0}, {net.Trip("l", l, {0.03f, 2})}, {1, 8});
  net.Done({net.Trip("s", s, {1.0f / 256, -128})});
  QuantizeOptions options;
  options.config.layers["l_node"].float32 = true;
  const QuantizeResult r = net.Quantized(options);
  EXPECT_EQ(Ops(r.graph), "Quantize Dequantize LogSoftmax Quantize QTable Dequantize");
  EXPECT_EQ(r.graph.value(r.graph.FindValue("x_dq")).dtype, DType::kF32);
  ASSERT_EQ(r.report.float_nodes.size(), 1u);
}

TEST(QdqTest, TheConfigurationCanKeepANodeInF32ButNotChangeTypes) {
  ConvNet net;
  QuantizeOptions options;
  options.config.layers["c"].float32 = true;
  EXPECT_EQ(Ops(net.Quantized(options).graph), "Quantize Dequantize Conv Quantize Dequantize");
  options.config.layers["c"] = {};
  options.config.layers["c"].threshold = 1.0f;
  EXPECT_THAT(MessageOf(net, options),
              HasSubstr("'c': threshold, low, high and per_channel mean nothing"));
  options.config.layers.clear();
  options.config.layers["y_q"].float32 = true;
  EXPECT_THAT(MessageOf(net, options), HasSubstr("'y_q' belongs to a QuantizeLinear"));
}

TEST(QdqTest, WildcardsPassOverTheModelsQuantizeAndDequantize) {
  ConvNet net;
  QuantizeOptions options;
  for (const char* text : {"layers: {'*': {mode: f32}}", "types: {Conv: {mode: f32}}"}) {
    options.config = ReadQuantizeConfig(text, "q.yaml");
    EXPECT_EQ(Ops(net.Quantized(options).graph), "Quantize Dequantize Conv Quantize Dequantize");
  }
  options.config = ReadQuantizeConfig("layers:\n  '*': {threshold: 1}\n", "q.yaml");
  EXPECT_THAT(MessageOf(net, options), HasSubstr("q.yaml:2: '*': threshold, low, high and"));
  options.config = ReadQuantizeConfig("types:\n  Quantize: {mode: f32}\n", "q.yaml");
  EXPECT_THAT(MessageOf(net, options), HasSubstr("q.yaml:2: 'Quantize' has no settings"));
}

TEST(QdqTest, TheModeIsTheModelsUnlessGiven) {
  QuantizeOptions symmetric, asymmetric;
  symmetric.mode_given = asymmetric.mode_given = true;
  asymmetric.mode = QuantMode::kAsymmetric;
  ConvNet zeros({0.01f, 0}, {0.02f, 0}), others;
  EXPECT_EQ(zeros.Quantized().mode, QuantMode::kSymmetric);
  EXPECT_EQ(zeros.Quantized(symmetric).mode, QuantMode::kSymmetric);
  EXPECT_EQ(zeros.Quantized(asymmetric).mode, QuantMode::kAsymmetric);
  EXPECT_EQ(others.Quantized().mode, QuantMode::kAsymmetric);
  EXPECT_THAT(MessageOf(others, symmetric),
              HasSubstr("symmetric mode: tensor 'x_q' of the model has zero point 3"));
}

TEST(QdqTest, ACalibrationTableIsRefused) {
  ConvNet net;
  CalibrationTable table;
  table.tensors.emplace_back("x", TensorRange{});
  EXPECT_THROW(QuantizeGraph(net.graph, table, {}), Error);
}

TEST(QdqTest, BytesMayEnterAndLeaveTheModel) {
  Qdq net;
  const ValueId q = net.Input("q", {1, 8}, DType::kS8);
  net.graph.value(q).quant = QuantParams{0.01f, 3};
  const ValueId m = net.Op("m", MatMul{}, {net.Dq("x", q), net.Random("w", {8, 8})}, {1, 8});
  net.Done({net.Q("m_q", m, {0.05f, 1})});
  const QuantizeResult r = net.Quantized();
  EXPECT_EQ(Ops(r.graph), "QMatMul");
  EXPECT_EQ(r.graph.value(r.graph.inputs[0]).dtype, DType::kS8);
  EXPECT_EQ(r.graph.value(r.graph.outputs[0]).dtype, DType::kS8);
  EXPECT_EQ(r.graph.value(r.graph.outputs[0]).name, "m_q");
  EXPECT_LE(WorstUnits(net.graph, r, "m_q", 1.0f), 1.0);
}

TEST(QdqTest, SumsOfTwoQuantizedTensors) {
  for (const QuantParams b : {QuantParams{0.02f, 0}, QuantParams{0.013f, 9}}) {
    Qdq net;
    const ValueId x = net.Trip("x", net.Input("x", {1, 8}), {0.01f, 0});
    const ValueId y = net.Trip("y", net.Input("y", {1, 8}), b);
    const ValueId s = net.Op("s", Binary{BinaryOp::kAdd, kRelu}, {x, y}, {1, 8});
    net.Done({net.Trip("s", s, {0.015f, b.zero_point})});
    const QuantizeResult r = net.Quantized();
    EXPECT_EQ(Ops(r.graph), "Quantize Quantize QAdd Dequantize");
    EXPECT_EQ(Count<isa::AddFloat>(r.graph), b.zero_point != 0 ? 1 : 0);
    EXPECT_LE(WorstUnits(net.graph, r, "s_dq", 0.015f), 1.001);
  }
}

TEST(QdqTest, ThePlanForSupportKnowsQdqModels) {
  ConvNet net;
  const QuantizationPlan plan = MakePlan(net.graph, {});
  for (NodeForm form : plan.forms) EXPECT_EQ(form, NodeForm::kInteger);
}

}  // namespace
}  // namespace rshift::test
