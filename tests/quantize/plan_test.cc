#include "quantize/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

// A LogSoftmax is what stays F32 in these tests.
QuantizeOptions FloatLogSoftmax() {
  QuantizeOptions options;
  options.config.types["LogSoftmax"].float32 = true;
  return options;
}

TEST(PlanTest, AGraphInputIsQuantizedBeforeItsTranspose) {
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 4, 4, 2});
  const ValueId t = little.Add("x__nhwc", Transpose{{0, 2, 1, 3}}, {x}, {1, 4, 4, 2});
  const ValueId w = little.RandomConstant("w", {2, 2, 1, 1}, -1, 1);
  little.Output(little.Add("y", Conv{}, {t, w}, {1, 4, 4, 2}));
  const CalibrationTable table = little.Calibrate();
  EXPECT_EQ(table.Find("x__nhwc"), nullptr);  // a layout copy has no entry of its own
  const QuantizeResult r = QuantizeGraph(little.graph(), table, {});
  ASSERT_EQ(r.graph.nodes().size(), 4u);
  EXPECT_TRUE(std::holds_alternative<Quantize>(r.graph.nodes()[0].op));
  EXPECT_TRUE(std::holds_alternative<Transpose>(r.graph.nodes()[1].op));
  EXPECT_TRUE(std::holds_alternative<QConv>(r.graph.nodes()[2].op));
  EXPECT_TRUE(std::holds_alternative<Dequantize>(r.graph.nodes()[3].op));
}

TEST(PlanTest, FunctionsAmongFloatNodesStayFloat) {
  LittleGraph little;
  ValueId v = little.Input("x", {2, 4});
  v = little.Add("s", Softmax{1, true}, {v}, {2, 4});
  v = little.Add("e", Unary{UnaryOp::kTanh, 0, 0}, {v}, {2, 4});
  v = little.Add("r", Reshape{}, {v}, {4, 2});
  little.Output(little.Add("y", Softmax{1, true}, {v}, {4, 2}));
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), FloatLogSoftmax());
  EXPECT_EQ(r.report.float_nodes.size(), 4u);
  EXPECT_EQ(r.graph.nodes().size(), 4u);
}

// x [2, 16] times a window, its spectrum's real part, squared, through filters, then a logarithm.
LittleGraph Spectrogram() {
  LittleGraph little;
  const ValueId x = little.Input("x", {2, 16});
  const ValueId window = little.RandomConstant("window", {16}, 0.5f, 1);
  const ValueId cut = little.Add("cut", Binary{BinaryOp::kMul, {}}, {x, window}, {2, 16});
  std::vector<float> waves;
  for (int k = 0; k < 16; ++k) {
    for (int n = 0; n < 9; ++n)
      waves.push_back(static_cast<float>(-0.25 * std::sin(2 * std::numbers::pi * k * n / 16)));
  }
  const ValueId bins =
      little.Add("bins", MatMul{}, {cut, little.Constant("waves", {16, 9}, waves)}, {2, 9});
  const ValueId power = little.Add("power", Binary{BinaryOp::kMul, {}}, {bins, bins}, {2, 9});
  const ValueId mel =
      little.Add("mel", MatMul{}, {power, little.RandomConstant("filters", {9, 4}, 0, 1)}, {2, 4});
  const ValueId safe = little.Add("safe", Binary{BinaryOp::kAdd, {}},
                                  {mel, little.Constant("least", {}, {1e-3f})}, {2, 4});
  const ValueId log = little.Add("log", Unary{UnaryOp::kLog}, {safe}, {2, 4});
  little.Output(
      little.Add("y", MatMul{}, {log, little.RandomConstant("w", {4, 3}, -1, 1)}, {2, 3}));
  return little;
}

TEST(PlanTest, SpectraStayFloatUpToALogarithm) {
  LittleGraph little = Spectrogram();
  const CalibrationTable table = little.Calibrate();
  QuantizeResult r = QuantizeGraph(little.graph(), table, {});
  std::set<std::string> floats;
  for (const auto& node : r.report.float_nodes) {
    floats.insert(node.node);
    EXPECT_THAT(node.reason, ::testing::HasSubstr("Fourier transform"));
  }
  EXPECT_THAT(floats, ::testing::UnorderedElementsAre("cut_node", "bins_node", "power_node",
                                                      "mel_node", "safe_node", "log_node"));
  QuantizeOptions options;
  options.profile = {ProfileId::kTfLite};
  r = QuantizeGraph(little.graph(), table, options);
  EXPECT_TRUE(r.report.float_nodes.empty());
  options = {};
  options.config.types["MatMul"].float32 = false;  // asked for integers
  r = QuantizeGraph(little.graph(), table, options);
  for (const auto& node : r.report.float_nodes) EXPECT_NE(node.node, "bins_node");
}

std::set<std::string> FloatNodes(const LittleGraph& little, const CalibrationTable& table,
                                 const QuantizeOptions& options = {}) {
  std::set<std::string> floats;
  for (const auto& node : QuantizeGraph(little.graph(), table, options).report.float_nodes)
    floats.insert(node.node);
  return floats;
}

// GeM pooling: a power, its mean, the root.
TEST(PlanTest, PowersStayFloatUpToTheirRoot) {
  LittleGraph little;
  const ValueId x = little.Input("x", {2, 6, 4}, 0.1f, 2);
  const ValueId a =
      little.Add("a", MatMul{}, {x, little.RandomConstant("w", {4, 4}, 0.1f, 1)}, {2, 6, 4});
  const ValueId three = little.Constant("three", {1}, {3}),
                third = little.Constant("t", {1}, {1 / 3.0f});
  const ValueId cube = little.Add("cube", Binary{BinaryOp::kPow, {}}, {a, three}, {2, 6, 4});
  Reduce mean;
  mean.op = ReduceOp::kMean;
  mean.axes = {1};
  const ValueId m = little.Add("mean", mean, {cube}, {2, 1, 4});
  const ValueId root = little.Add("root", Binary{BinaryOp::kPow, {}}, {m, third}, {2, 1, 4});
  little.Output(
      little.Add("y", MatMul{}, {root, little.RandomConstant("v", {4, 3}, -1, 1)}, {2, 1, 3}));
  // A square of which no root is taken.
  const ValueId square = little.Add("square", Binary{BinaryOp::kMul, {}}, {a, a}, {2, 6, 4});
  little.Output(
      little.Add("z", MatMul{}, {square, little.RandomConstant("u", {4, 3}, -1, 1)}, {2, 6, 3}));
  const CalibrationTable table = little.Calibrate();
  EXPECT_THAT(FloatNodes(little, table),
              ::testing::UnorderedElementsAre("cube_node", "mean_node", "root_node"));
  QuantizeOptions options;
  options.config.layers["cube"].float32 = false;
  EXPECT_FALSE(FloatNodes(little, table, options).contains("cube_node"));
}

// A root mean square over many numbers, as normalizations have it, is an ordinary number.
TEST(PlanTest, RootsOfMeansOfManySquaresAreInteger) {
  for (const int64_t count : {4, 32}) {
    LittleGraph little;
    const ValueId x = little.Input("x", {2, count, 4});
    const ValueId a =
        little.Add("a", MatMul{}, {x, little.RandomConstant("w", {4, 4}, -1, 1)}, {2, count, 4});
    const ValueId square = little.Add("square", Binary{BinaryOp::kMul, {}}, {a, a}, {2, count, 4});
    Reduce mean;
    mean.op = ReduceOp::kMean;
    mean.axes = {1};
    const ValueId m = little.Add("mean", mean, {square}, {2, 1, 4});
    const ValueId half = little.Constant("half", {1}, {0.5f});
    const ValueId root = little.Add("root", Binary{BinaryOp::kPow, {}}, {m, half}, {2, 1, 4});
    little.Output(
        little.Add("y", MatMul{}, {root, little.RandomConstant("v", {4, 3}, -1, 1)}, {2, 1, 3}));
    EXPECT_EQ(FloatNodes(little, little.Calibrate()).size(), count == 4 ? 3u : 0u);
  }
}

// (x - mean) / deviation over columns of a table, of which one may be 100 times as wide.
TEST(PlanTest, ColumnsOfUnlikeUnitsAreScaledInFloat) {
  for (const bool unlike : {false, true}) {
    LittleGraph little;
    const ValueId x = little.Input("x", {2, 4});
    const ValueId mean = little.RandomConstant("m", {4}, -1, 1);
    const ValueId d = little.Constant("d", {4}, {1, 2, 0.5f, 100});
    const ValueId s = little.Add("s", Binary{BinaryOp::kSub, {}}, {x, mean}, {2, 4});
    const ValueId q = little.Add("q", Binary{BinaryOp::kDiv, {}}, {s, d}, {2, 4});
    const ValueId t = little.Add("t", Transpose{{1, 0}}, {q}, {4, 2});
    little.Output(
        little.Add("y", MatMul{}, {t, little.RandomConstant("w", {2, 3}, -1, 1)}, {4, 3}));
    CalibrationTable table = little.Calibrate();
    for (auto& [name, range] : table.tensors) {
      if ((name == "x" || name == "s") && unlike) range = {-200, 200, 200, -200, 200, "minmax", 0};
    }
    const std::set<std::string> floats = FloatNodes(little, table);
    if (unlike)
      EXPECT_THAT(floats, ::testing::UnorderedElementsAre("s_node", "q_node"));
    else
      EXPECT_TRUE(floats.empty());
  }
}

TEST(PlanTest, OtherMatricesAreNoTransforms) {
  LittleGraph little;
  const ValueId x = little.Input("x", {2, 16});
  std::vector<float> waves;
  for (int k = 0; k < 16; ++k) {  // a cosine transform, whose angles are others
    for (int n = 0; n < 9; ++n)
      waves.push_back(static_cast<float>(std::cos(std::numbers::pi * (k + 0.5) * n / 16)));
  }
  little.Output(little.Add("y", MatMul{}, {x, little.Constant("waves", {16, 9}, waves)}, {2, 9}));
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), {});
  EXPECT_TRUE(r.report.float_nodes.empty());
}

TEST(PlanTest, ValuesChangeFormOnceForAllReaders) {
  LittleGraph little;
  const ValueId x = little.Input("x", {2, 4});
  const ValueId w = little.RandomConstant("w", {4, 4}, -1, 1);
  const ValueId m = little.Add("m", MatMul{}, {x, w}, {2, 4});
  const ValueId a = little.Add("a", Softmax{1, true}, {m}, {2, 4});
  const ValueId b = little.Add("b", Softmax{1, true}, {m}, {2, 4});
  const ValueId w2 = little.RandomConstant("w2", {4, 3}, -1, 1);
  little.Output(little.Add("c", MatMul{}, {a, w2}, {2, 3}));
  little.Output(little.Add("d", MatMul{}, {a, w2}, {2, 3}));
  little.Output(b);
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), FloatLogSoftmax());
  EXPECT_EQ(Count<Quantize>(r.graph), 2);    // x, a
  EXPECT_EQ(Count<Dequantize>(r.graph), 3);  // m, c, d
}

TEST(PlanTest, MovementOfFloatDataIsDoneInBytesWhenAllReadersAreInteger) {
  LittleGraph little;
  ValueId v = little.Input("x", {2, 4});
  v = little.Add("s", Softmax{1, true}, {v}, {2, 4});
  v = little.Add("r", Transpose{{1, 0}}, {v}, {4, 2});
  const ValueId w = little.RandomConstant("w", {2, 3}, -1, 1);
  little.Output(little.Add("y", MatMul{}, {v, w}, {4, 3}));
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), FloatLogSoftmax());
  EXPECT_EQ(r.graph.value(r.graph.FindValue("r")).dtype, DType::kS8);  // logarithms
  EXPECT_EQ(r.report.float_nodes.size(), 1u);
}

TEST(PlanTest, MovementFromInputToOutputIsDoneInBytes) {
  LittleGraph little;
  ValueId v = little.Input("x", {1, 4, 4, 2});
  v = little.Add("p", MaxPool{{.kernel_h = 2, .kernel_w = 2}}, {v}, {1, 3, 3, 2});
  v = little.Add("c", Clip{{-0.3f, 0.4f}}, {v}, {1, 3, 3, 2});
  little.Output(little.Add("y", Reshape{}, {v}, {1, 18}));
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), {});
  EXPECT_TRUE(r.report.float_nodes.empty());
  EXPECT_EQ(Count<Quantize>(r.graph), 1);
  EXPECT_EQ(Count<Requantize>(r.graph), 1);
}

TEST(PlanTest, MovementFromInputToAFloatNodeStaysFloat) {
  LittleGraph little;
  ValueId v = little.Input("x", {2, 4});
  v = little.Add("r", Reshape{}, {v}, {4, 2});
  little.Output(v);
  little.Output(little.Add("y", Softmax{1, true}, {v}, {4, 2}));
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), FloatLogSoftmax());
  EXPECT_EQ(r.report.float_nodes.size(), 2u);
  EXPECT_EQ(Count<Quantize>(r.graph), 0);
}

// An image read at computed places: floor(at) is an index, at - floor(at) a weight. The names of
// the nodes that become integer.
std::set<std::string> IntegerNodes(bool features) {
  LittleGraph g;
  const ValueId w = g.RandomConstant("w", {4, 4}, -1, 1),
                w2 = g.RandomConstant("w2", {4, 3}, -1, 1);
  const ValueId image = g.Add("image", MatMul{}, {g.Input("x", {8, 4}), w}, {8, 4});
  const ValueId places = g.Add("places", Unary{UnaryOp::kSigmoid}, {g.Input("p", {5, 1})}, {5, 1});
  const ValueId at = g.Add("at", Unary{UnaryOp::kAbs}, {places}, {5, 1});
  const ValueId below = g.Add("below", Unary{UnaryOp::kFloor}, {at}, {5, 1});
  const ValueId part = g.Add("part", Binary{BinaryOp::kSub, {}}, {at, below}, {5, 1});
  const ValueId index = g.AddIndex("index", Cast{DType::kS64}, {below}, {5, 1});
  const ValueId flat = g.AddIndex("flat", Reshape{}, {index}, {5});
  const ValueId read = g.Add("read", Gather{0}, {image, flat}, {5, 4});
  const ValueId weighted = g.Add("weighted", Binary{BinaryOp::kMul, {}}, {read, part}, {5, 4});
  g.Output(g.Add("y", MatMul{}, {weighted, w2}, {5, 3}));
  const ValueId w3 = g.RandomConstant("w3", {1, 3}, -1, 1);
  if (features) g.Output(g.Add("z", MatMul{}, {places, w3}, {5, 3}));
  const QuantizationPlan plan = MakePlan(g.graph(), {}, {}, {});
  std::set<std::string> names;
  for (size_t n = 0; n < plan.forms.size(); ++n) {
    const Node& node = g.graph().nodes()[n];
    if (plan.forms[n] == NodeForm::kInteger) names.insert(g.graph().value(node.outputs[0]).name);
  }
  return names;
}

TEST(PlanTest, WhatPointsAtElementsStaysFloat) {
  EXPECT_THAT(IntegerNodes(/*features=*/false),
              ::testing::ElementsAre("image", "read", "weighted", "y"));
}

TEST(PlanTest, FeaturesThatAlsoPointAreInteger) {
  EXPECT_THAT(IntegerNodes(/*features=*/true),
              ::testing::ElementsAre("image", "places", "read", "weighted", "y", "z"));
}

// A head: boxes up to `size` and scores up to 1 of one feature map, decoded and joined. The names
// of the values that stay F32.
std::set<std::string> FloatNodesOfHead(float size, const QuantizeConfig& config = {},
                                       ProfileId profile = ProfileId::kTpu) {
  LittleGraph g;
  const ValueId w = g.RandomConstant("w", {4, 4}, -1, 1);
  const ValueId x = g.Input("x", {8, 4});
  const ValueId box = g.Add("box", MatMul{}, {x, w}, {8, 4});
  const ValueId score = g.Add("score", MatMul{}, {x, w}, {8, 4});
  const ValueId cells = g.Add("cells", Clip{{0, 1}}, {box}, {8, 4});
  const ValueId stride = g.Constant("stride", {1, 1}, {size});
  const ValueId pixels = g.Add("pixels", Binary{BinaryOp::kMul, {}}, {cells, stride}, {8, 4});
  const ValueId share = g.Add("share", Unary{UnaryOp::kSigmoid}, {score}, {8, 4});
  const ValueId joined = g.Add("joined", Concat{1}, {pixels, share}, {8, 8});
  g.Output(g.Add("y", Transpose{{1, 0}}, {joined}, {8, 8}));
  const QuantizationPlan plan = MakePlan(g.graph(), config, {profile}, g.Calibrate());
  std::set<std::string> names;
  for (size_t n = 0; n < plan.forms.size(); ++n) {
    const Node& node = g.graph().nodes()[n];
    if (plan.forms[n] == NodeForm::kFloat) names.insert(g.graph().value(node.outputs[0]).name);
  }
  return names;
}

TEST(PlanTest, OutputsOfRangesFarApartAreJoinedInFloat) {
  EXPECT_THAT(FloatNodesOfHead(320),
              ::testing::ElementsAre("cells", "joined", "pixels", "share", "y"));
}

TEST(PlanTest, OutputsOfLikeRangesAreJoinedInIntegers) {
  EXPECT_THAT(FloatNodesOfHead(2), ::testing::IsEmpty());
}

TEST(PlanTest, AConcatThatTheConfigurationWantsInIntegersIsInteger) {
  QuantizeConfig config;
  config.types["Concat"].float32 = false;
  EXPECT_THAT(FloatNodesOfHead(320, config), ::testing::IsEmpty());
}

TEST(PlanTest, ProfilesOfFrameworksJoinOutputsInIntegers) {
  EXPECT_THAT(FloatNodesOfHead(320, {}, ProfileId::kTfLite), ::testing::IsEmpty());
}

// Two products and their Concat, which is the output, moved, or a function reads.
std::vector<NodeForm> FormsOfJoin(float narrow, float wide, bool read) {
  LittleGraph g;
  const ValueId x = g.Input("x", {8, 4});
  const ValueId w = g.RandomConstant("w", {4, 4}, -narrow, narrow);
  const ValueId v = g.RandomConstant("v", {4, 4}, -wide, wide);
  const ValueId a = g.Add("a", MatMul{}, {x, w}, {8, 4}), b = g.Add("b", MatMul{}, {x, v}, {8, 4});
  const ValueId joined = g.Add("joined", Concat{1}, {a, b}, {8, 8});
  g.Output(read ? g.Add("y", Unary{UnaryOp::kTanh}, {joined}, {8, 8})
                : g.Add("y", Reshape{}, {joined}, {64}));
  return MakePlan(g.graph(), {}, {}, g.Calibrate()).forms;
}

TEST(PlanTest, OutputsOfUnlikeProductsAreJoinedInFloat) {
  using enum NodeForm;
  EXPECT_THAT(FormsOfJoin(0.01f, 9, false),
              ::testing::ElementsAre(kInteger, kInteger, kFloat, kFloat));
  EXPECT_THAT(FormsOfJoin(3, 9, false), ::testing::Each(kInteger));
  EXPECT_THAT(FormsOfJoin(0.01f, 9, true), ::testing::Each(kInteger));
}

TEST(PlanTest, AConcatBeforeAProductIsInteger) {
  LittleGraph g;
  const ValueId w = g.RandomConstant("w", {4, 4}, -1, 1);
  const ValueId x = g.Input("x", {8, 4});
  const ValueId m = g.Add("m", MatMul{}, {x, w}, {8, 4});
  const ValueId far = g.Constant("far", {1, 1}, {320});
  const ValueId wide = g.Add("wide", Binary{BinaryOp::kMul, {}}, {m, far}, {8, 4});
  const ValueId share = g.Add("share", Unary{UnaryOp::kSigmoid}, {m}, {8, 4});
  const ValueId joined = g.Add("joined", Concat{1}, {share, wide}, {8, 8});
  const ValueId w2 = g.RandomConstant("w2", {8, 3}, -1, 1);
  g.Output(g.Add("y", MatMul{}, {joined, w2}, {8, 3}));
  const QuantizationPlan plan = MakePlan(g.graph(), {}, {}, g.Calibrate());
  EXPECT_THAT(plan.forms, ::testing::Each(NodeForm::kInteger));
}

}  // namespace
}  // namespace rshift::test
