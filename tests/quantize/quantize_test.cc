#include "quantize/quantize.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/dump.h"
#include "tests/base/error_of.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

// Residual block with everything that has a scale of its own.
LittleGraph Network() {
  LittleGraph little(11);
  const Window same{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  const ValueId x = little.Input("x", {1, 8, 8, 4}, -1, 2);
  const ValueId w1 = little.RandomConstant("w1", {4, 4, 3, 3}, -0.3f, 0.3f);
  const ValueId b1 = little.RandomConstant("b1", {4}, -0.2f, 0.2f);
  const ValueId c1 = little.Add("c1", Conv{same, 1, {0.0f, INFINITY}}, {x, w1, b1}, {1, 8, 8, 4});
  const ValueId w2 = little.RandomConstant("w2", {4, 1, 3, 3}, -0.5f, 0.5f);
  const ValueId c2 = little.Add("c2", Conv{same, 4, {}}, {c1, w2}, {1, 8, 8, 4});
  const ValueId l = little.Add("l", LeakyRelu{0.1f}, {c2}, {1, 8, 8, 4});
  const ValueId a = little.Add("a", Binary{}, {l, c1}, {1, 8, 8, 4});
  const ValueId m = little.Add("m", MaxPool{{2, 2, 2, 2, 1, 1, 0, 0, 0, 0}}, {a}, {1, 4, 4, 4});
  const ValueId g = little.Add("g", AveragePool{{{4, 4}}}, {m}, {1, 1, 1, 4});
  const ValueId f = little.Add("f", Reshape{}, {g}, {1, 4});
  const ValueId w3 = little.RandomConstant("w3", {4, 10}, -1, 1);
  const ValueId y = little.Add("y", MatMul{}, {f, w3}, {1, 10});
  little.Output(y);
  return little;
}

TEST(QuantizeGraphTest, AWholeNetworkIsIntegerAndClose) {
  for (QuantMode mode : kModes) {
    LittleGraph little = Network();
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(16), Mode(mode));
    EXPECT_TRUE(r.report.float_nodes.empty());
    EXPECT_TRUE(r.report.repairs.empty());
    EXPECT_EQ(Count<Quantize>(r.graph), 1);
    EXPECT_EQ(Count<Dequantize>(r.graph), 1);
    EXPECT_LE(WorstError(little, r, "y"), 8) << DumpGraph(r.graph);
  }
}

TEST(QuantizeGraphTest, OutputsStayF32UnderTheirNames) {
  LittleGraph little = Network();
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), {});
  ASSERT_EQ(r.graph.outputs.size(), 1u);
  EXPECT_EQ(r.graph.value(r.graph.outputs[0]).dtype, DType::kF32);
  EXPECT_EQ(r.graph.output_names[0], "y");
  EXPECT_EQ(r.graph.value(r.graph.FindValue("y")).dtype,
            DType::kS8);  // the integers bear the ONNX name
  EXPECT_EQ(r.graph.value(r.graph.inputs[0]).dtype, DType::kF32);
}

TEST(QuantizeGraphTest, IsReproducible) {
  LittleGraph little = Network();
  const CalibrationTable table = little.Calibrate();
  EXPECT_EQ(DumpGraph(QuantizeGraph(little.graph(), table, {}).graph),
            DumpGraph(QuantizeGraph(little.graph(), table, {}).graph));
}

TEST(QuantizeGraphTest, TheConfigurationKeepsLayersInF32) {
  LittleGraph little = Network();
  QuantizeOptions options;
  options.config.layers["c2_node"].float32 = true;  // by node
  options.config.layers["y"].float32 = true;        // by tensor
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), options);
  ASSERT_EQ(r.report.float_nodes.size(), 3u);
  EXPECT_EQ(r.report.float_nodes[0].node, "c2_node");
  EXPECT_EQ(r.report.float_nodes[0].reason, "the configuration says f32");
  EXPECT_EQ(r.report.float_nodes[1].node, "l_node");  // F32 comes in, and no convolution reads on
  EXPECT_EQ(r.report.float_nodes[2].node, "y_node");
  EXPECT_EQ(Count<Conv>(r.graph), 1);
  EXPECT_EQ(Count<isa::Add>(r.graph), 1);
  EXPECT_EQ(r.graph.value(r.graph.FindValue("c2")).dtype, DType::kF32);
}

TEST(QuantizeGraphTest, TheConfigurationSetsRanges) {
  LittleGraph little = Network();
  QuantizeOptions options;
  options.config.layers["c1"].threshold = 2.55f;
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), options);
  EXPECT_EQ(r.graph.value(r.graph.FindValue("c1")).quant->scale, 0.01f);
  options.mode = QuantMode::kAsymmetric;
  options.config.layers["c1"] = {};
  options.config.layers["c1"].low = 0.0f;
  options.config.layers["c1"].high = 5.1f;
  const QuantizeResult a = QuantizeGraph(little.graph(), little.Calibrate(), options);
  EXPECT_EQ(a.graph.value(a.graph.FindValue("c1")).quant->scale, 0.02f);
}

std::string ErrorOfConfig(const std::string& yaml) {
  LittleGraph little = Network();
  QuantizeOptions options;
  options.config = ReadQuantizeConfig(yaml, "q.yaml");
  return ErrorOf(ErrorCode::kInvalidInput,
                 [&] { QuantizeGraph(little.graph(), little.Calibrate(), options); });
}

TEST(QuantizeGraphTest, AnEntryThatMatchesNothingIsNamedWithFileAndLine) {
  EXPECT_EQ(
      ErrorOfConfig("layers:\n  c1_nod: {mode: f32}\n")
          .rfind("q.yaml:2: the model has no layer or tensor 'c1_nod'; did you mean 'c1_node'", 0),
      0u);
  EXPECT_EQ(
      ErrorOfConfig("layers:\n  a: {mode: f32}\n  something_else: {mode: f32}\n"),
      "q.yaml:3: the model has no layer or tensor 'something_else'; --dump-graph passes lists "
      "the names");
  EXPECT_EQ(ErrorOfConfig("layers:\n  'conv_*': {mode: f32}\n"),
            "q.yaml:2: 'conv_*' matches no layer or tensor; --dump-graph passes lists the names");
  EXPECT_EQ(ErrorOfConfig("layers:\n  'c*': {type: MatMul, mode: f32}\n"),
            "q.yaml:2: 'c*' matches no layer or tensor of that type; --dump-graph passes lists the "
            "names");
  for (const char* text :
       {"types:\n  Gemm: {mode: f32}\n", "layers:\n  '*': {type: [Conv, Gemm], mode: f32}\n"}) {
    EXPECT_EQ(
        ErrorOfConfig(text),
        "q.yaml:2: the model has no operator of type 'Gemm' after fusion; its types are: Add, "
        "AveragePool, Conv, LeakyRelu, MatMul, MaxPool, Reshape");
  }
  QuantizeOptions options;  // not from a file
  options.config.layers["c1_nod"].float32 = true;
  LittleGraph little = Network();
  EXPECT_EQ(ErrorOf([&] {
              QuantizeGraph(little.graph(), little.Calibrate(), options);
            }).rfind("configuration: the model has no layer", 0),
            0u);
}

TEST(QuantizeGraphTest, AWildcardsKeyMustMeanSomethingForOneOfItsNodes) {
  EXPECT_EQ(ErrorOfConfig("layers:\n  '*': {per_channel: false}\n"), "no error");
  EXPECT_NE(ErrorOfConfig("layers:\n  'm*': {per_channel: false}\n").find("q.yaml:2: 'm*': per_ch"),
            std::string::npos);
  EXPECT_NE(ErrorOfConfig("types:\n  MaxPool: {multiplier_bits: 8}\n").find("q.yaml:2: 'MaxPool'"),
            std::string::npos);
  EXPECT_NE(ErrorOfConfig("layers:\n  'x*': {mode: f32}\n").find("'x*' is an input of the model"),
            std::string::npos);
}

std::string FloatNodesOf(const std::string& yaml) {
  LittleGraph little = Network();
  QuantizeOptions options;
  options.config = ReadQuantizeConfig(yaml, "q.yaml");
  std::string names;
  for (const auto& n :
       QuantizeGraph(little.graph(), little.Calibrate(), options).report.float_nodes)
    names += n.node.substr(0, n.node.find('_')) + " ";
  return names;
}

TEST(QuantizeGraphTest, ExactNamesWinOverTheLastWildcardAndThatOverTheType) {
  const std::string all = FloatNodesOf("layers:\n  '*': {mode: f32}\n");
  EXPECT_EQ(all, "c1 c2 l a m g f y ");
  EXPECT_EQ(FloatNodesOf("types: {Conv: {mode: f32}}\n"), "c1 c2 ");
  EXPECT_EQ(FloatNodesOf("layers:\n  '*': {type: [Conv, LeakyRelu], mode: f32}\n"), "c1 c2 l ");
  EXPECT_EQ(FloatNodesOf("types: {Conv: {mode: f32}}\nlayers: {'c?': {mode: int8}}\n"), "");
  EXPECT_EQ(FloatNodesOf("layers:\n  '*': {mode: f32}\n  '**': {mode: int8}\n"), "");
  EXPECT_EQ(FloatNodesOf("layers:\n  '**': {mode: int8}\n  '*': {mode: f32}\n"), all);
  EXPECT_EQ(FloatNodesOf("layers:\n  c2: {mode: int8}\n  'c*': {mode: f32}\n"), "c1 ");
  EXPECT_EQ(FloatNodesOf("layers:\n  c2_node: {mode: int8}\n  'c*': {mode: f32}\n"), "c1 ");
  EXPECT_EQ(FloatNodesOf("layers:\n  c2: {mode: f32}\n  c2_node: {mode: int8}\n"), "c2 ");
}

TEST(QuantizeGraphTest, ARangeIsOneSettingAndWildcardsReachInputs) {
  const auto scale = [](const std::string& yaml, const std::string& tensor, QuantMode mode) {
    LittleGraph little = Network();
    QuantizeOptions options = Mode(mode);
    options.config = ReadQuantizeConfig(yaml, "q.yaml");
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), options);
    const ValueId id = r.graph.FindValue(tensor);
    return id.valid() ? r.graph.value(id).quant->scale : 0;
  };
  const std::string both = "layers:\n  c1: {threshold: 2.55}\n  '*': {low: 0, high: 5.1}\n";
  EXPECT_EQ(scale(both, "c1", QuantMode::kAsymmetric), 0.01f);  // [0, 2.55]: not the wildcard's
  EXPECT_EQ(scale(both, "a", QuantMode::kAsymmetric), 0.02f);
  EXPECT_EQ(scale("layers: {'?': {low: 0, high: 5.1}}\n", "x__q", QuantMode::kAsymmetric), 0.02f);
}

TEST(QuantizeGraphTest, AKeyThatWouldChangeNothingIsAnError) {
  const auto message = [](const std::string& name, const LayerConfig& layer) {
    LittleGraph little = Network();
    QuantizeOptions options;
    options.config.layers[name] = layer;
    return ErrorOf(ErrorCode::kInvalidInput,
                   [&] { QuantizeGraph(little.graph(), little.Calibrate(), options); });
  };
  LayerConfig mode, weights, bits;
  mode.float32 = true;
  weights.per_channel = false;
  bits.multiplier_bits = 8;
  EXPECT_NE(message("x", mode).find("'x' is an input of the model"), std::string::npos);
  EXPECT_NE(message("m_node", weights).find("'m_node': per_channel is for"), std::string::npos);
  EXPECT_NE(message("c1", bits).find("'c1': multiplier_bits is for"), std::string::npos);
  EXPECT_EQ(message("c1", weights), kNoError);
  EXPECT_EQ(message("y_node", weights), kNoError);
  EXPECT_EQ(message("a", bits), kNoError);
  EXPECT_EQ(message("l_node", bits), kNoError);
  EXPECT_EQ(message("m", mode), kNoError);
}

TEST(QuantizeGraphTest, RejectsTheTableOfAnotherModel) {
  LittleGraph little = Network();
  Graph graph = little.graph();
  graph.sha256 = "aa";
  CalibrationTable table = little.Calibrate();
  table.model_sha256 = "bb";
  EXPECT_THROW(QuantizeGraph(graph, table, {}), Error);
  table.model_sha256 = "aa";
  EXPECT_NO_THROW(QuantizeGraph(graph, table, {}));
  table.pass_list_version = 1000;
  EXPECT_THROW(QuantizeGraph(graph, table, {}), Error);
}

TEST(QuantizeGraphTest, TensorsThatAreAlwaysZeroWork) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("x", {1, 2, 2, 2});
    const ValueId w = little.Constant("w", {2, 2, 1, 1}, {0, 0, 0, 0});
    const ValueId z = little.Add("z", Conv{}, {x, w}, {1, 2, 2, 2});
    const ValueId v = little.Constant("v", {2, 2, 1, 1}, {100, -50, 3, 4});
    const ValueId b = little.Constant("b", {2}, {0.3f, -0.7f});
    const ValueId c = little.Add("c", Conv{}, {z, v, b}, {1, 2, 2, 2});
    little.Output(little.Add("y", Binary{}, {c, z}, {1, 2, 2, 2}));
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_LE(WorstError(little, r, "c"), 1.01);
    EXPECT_LE(WorstError(little, r, "y"), 2.1);
  }
}

// HardSwish read by padded convolutions, one of them depthwise, through MaxPool and Concat.
LittleGraph HardSwishNetwork() {
  LittleGraph little(5);
  const Window same{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  const Shape shape = {1, 6, 6, 4};
  const ValueId x = little.Input("x", shape, -4, 6);
  const ValueId s = little.Add("s", Unary{UnaryOp::kHardSwish}, {x}, shape);
  const ValueId m = little.Add("m", MaxPool{{1, 2, 1, 1, 1, 1, 0, 0, 0, 1}}, {s}, shape);
  const ValueId w1 = little.RandomConstant("w1", {4, 1, 3, 3}, -0.5f, 0.5f);
  const ValueId d = little.Add("d", Conv{same, 4, {}}, {m, w1}, shape);
  const ValueId h = little.Add("h", Unary{UnaryOp::kHardSwish}, {d}, shape);
  const ValueId t = little.Add("t", Unary{UnaryOp::kHardSwish}, {x}, shape);
  const ValueId c = little.Add("c", Concat{3}, {h, t}, {1, 6, 6, 8});
  const ValueId w2 = little.RandomConstant("w2", {3, 8, 3, 3}, -0.3f, 0.3f);
  const ValueId b2 = little.RandomConstant("b2", {3}, -0.2f, 0.2f);
  little.Output(little.Add("y", Conv{same, 1, {}}, {c, w2, b2}, {1, 6, 6, 3}));
  return little;
}

TEST(ShiftNegativeTest, ResultsAreUnsignedWithASmallerStep) {
  LittleGraph little = HardSwishNetwork();
  const CalibrationTable table = little.Calibrate(16);
  QuantizeOptions options;
  ASSERT_TRUE(options.shift_negative);
  const QuantizeResult shifted = QuantizeGraph(little.graph(), table, options);
  options.shift_negative = false;
  const QuantizeResult plain = QuantizeGraph(little.graph(), table, options);
  for (const char* name : {"s", "c"}) {
    const Value& value = shifted.graph.value(shifted.graph.FindValue(name));
    EXPECT_EQ(value.dtype, DType::kU8);
    EXPECT_GT(value.quant->zero_point, 0) << name;
    const Value& before = plain.graph.value(plain.graph.FindValue(name));
    EXPECT_EQ(before.dtype, DType::kS8);
    EXPECT_LT(value.quant->scale, 0.75f * before.quant->scale);
  }
  EXPECT_LE(WorstError(little, shifted, "y"), 4) << DumpGraph(shifted.graph);
}

TEST(ShiftNegativeTest, OtherProfilesKeepTheirTypes) {
  LittleGraph little = HardSwishNetwork();
  QuantizeOptions options;
  options.profile.id = ProfileId::kOnnxRuntime;
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), options);
  EXPECT_EQ(r.graph.value(r.graph.FindValue("c")).quant->zero_point, 0) << DumpGraph(r.graph);
}

}  // namespace
}  // namespace rshift::test
