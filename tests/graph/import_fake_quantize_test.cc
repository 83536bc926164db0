// FakeQuantize: the node of activations, the integers of weights, and what SplitFakeQuantize makes
// of both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/dump.h"
#include "graph/level_reading.h"
#include "graph/passes/split_fake_quantize.h"
#include "tests/graph/onnx_builder.h"
#include "tests/graph/origin.h"

namespace rshift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelBuilder;

constexpr const char* kDomain = "org.openvinotoolkit";

struct Ends {
  Shape shape;
  std::vector<float> in_low, in_high, out_low, out_high;
};

// x -> FakeQuantize -> y, and the constants of its ends.
ModelBuilder& Fake(ModelBuilder& b, const std::string& x, const std::string& y, const Ends& e,
                   int levels = 256) {
  b.Floats(y + "_il", e.shape, e.in_low).Floats(y + "_ih", e.shape, e.in_high);
  b.Floats(y + "_ol", e.shape, e.out_low).Floats(y + "_oh", e.shape, e.out_high);
  b.Node("FakeQuantize", {x, y + "_il", y + "_ih", y + "_ol", y + "_oh"}, {y},
         {{"levels", levels}});
  b.graph().mutable_node(b.graph().node_size() - 1)->set_domain(kDomain);
  return b;
}

Ends Same(float low, float high) { return {{}, {low}, {high}, {low}, {high}}; }

SplitResult SplitOf(ModelBuilder& b, bool drop = false) {
  return SplitFakeQuantize(b.Import(), {drop});
}

std::vector<std::string> OpsOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.emplace_back(OpName(node.op));
  return names;
}

const Value& BytesOf(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (std::holds_alternative<Quantize>(node.op)) return graph.value(node.outputs[0]);
  }
  throw Error(ErrorCode::kInternal, "no Quantize");
}

TEST(FakeQuantizeImport, OneNodeWithARowForEachChannel) {
  ModelBuilder b;
  b.Input("x", {1, 2, 3, 3});
  Fake(b, "x", "y", {{1, 2, 1, 1}, {-1, -2}, {1, 2}, {-1, -2}, {1, 2}}, 255).Output("y");
  const Graph graph = b.Import();
  ASSERT_EQ(graph.nodes().size(), 1u);
  const auto& op = std::get<FakeQuantize>(graph.nodes()[0].op);
  EXPECT_EQ(op.levels, 255);
  EXPECT_EQ(op.axis, 1);
  EXPECT_THAT(testing::Elements<float>(graph.value(graph.nodes()[0].inputs[1])),
              ElementsAre(-1, 1, -1, 1, -2, 2, -2, 2));
}

TEST(FakeQuantizeImport, WeightsAreQuantizedAndRememberTheirIntegers) {
  ModelBuilder b;
  b.Input("x", {1, 1, 3, 3}).Floats("w", {2, 1, 1, 2}, {0.5f, -0.26f, 127, 300});
  Fake(b, "w", "q", {{2, 1, 1, 1}, {-0.5f, -127}, {0.5f, 127}, {-0.5f, -127}, {0.5f, 127}}, 255);
  b.Node("Conv", {"x", "q"}, {"y"}).Output("y");
  const Graph graph = b.Import();
  ASSERT_EQ(graph.nodes().size(), 1u);
  const Value& w = graph.value(graph.nodes()[0].inputs[1]);
  ASSERT_NE(w.origin, nullptr);
  EXPECT_EQ(w.origin->axis, 0);
  EXPECT_FALSE(w.origin->tuned);
  EXPECT_THAT(w.origin->zero_points, ElementsAre(0, 0));
  EXPECT_FLOAT_EQ(w.origin->scales[0], 0.5f / 127);
  EXPECT_FLOAT_EQ(w.origin->scales[1], 1);
  EXPECT_THAT(w.origin->integers->As<int8_t>(), ElementsAre(127, -66, 127, 127));
}

TEST(FakeQuantizeImport, RefusesWhatHasNoMeaning) {
  for (const int levels : {0, 1, 65537}) {
    ModelBuilder b;
    b.Input("x", {2, 3});
    Fake(b, "x", "y", Same(-1, 1), levels).Output("y");
    EXPECT_THAT(b.ImportError(), HasSubstr("levels, expected 2 to 65536"));
  }
  ModelBuilder b;
  b.Input("x", {2, 3});
  Fake(b, "x", "y", {{4}, {-1, -1, -1, -1}, {1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}}).Output("y");
  EXPECT_THAT(b.ImportError(), HasSubstr("broadcast"));
}

TEST(LevelReading, OfTheDocumentsRanges) {
  const auto symmetric = ReadLevels(-128 * 0.5f, 127 * 0.5f, 256);
  ASSERT_TRUE(symmetric);
  EXPECT_EQ(symmetric->zero, 128);
  EXPECT_FALSE(symmetric->tuned);
  EXPECT_DOUBLE_EQ(symmetric->scale, 0.5);
  const auto narrow = ReadLevels(-1, 1, 255);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->zero, 127);
  EXPECT_FALSE(narrow->tuned);
  // il = -ih: (levels - 1) / 2 is no integer; the range grows to -1.00787 ih or so.
  const auto tuned = ReadLevels(-1, 1, 256);
  ASSERT_TRUE(tuned);
  EXPECT_EQ(tuned->zero, 128);
  EXPECT_TRUE(tuned->tuned);
  EXPECT_FLOAT_EQ(tuned->high, 1);
  EXPECT_FLOAT_EQ(tuned->low, -1.0078740157480315f);
  EXPECT_FALSE(ReadLevels(1, 2, 256));
  EXPECT_FALSE(ReadLevels(2, 1, 256));
  EXPECT_TRUE(ReadLevels(0, 0, 256));
}

TEST(SplitFakeQuantize, SignedWhereTheZeroPointIsTheMiddleElseUnsigned) {
  struct Case {
    float low, high;
    DType type;
    int32_t zero;
  };
  for (const Case& c : {Case{-64, 63.5f, DType::kS8, 0}, Case{0, 127.5f, DType::kU8, 0},
                        Case{-50, 77.5f, DType::kU8, 100}}) {
    ModelBuilder b;
    b.Input("x", {1, 2, 3, 3});
    Fake(b, "x", "y", Same(c.low, c.high)).Output("y");
    const SplitResult split = SplitOf(b);
    EXPECT_THAT(OpsOf(split.graph), ElementsAre("Quantize", "Dequantize"));
    const Value& bytes = BytesOf(split.graph);
    EXPECT_EQ(bytes.dtype, c.type);
    EXPECT_EQ(bytes.quant->zero_point, c.zero);
    EXPECT_FLOAT_EQ(bytes.quant->scale, 0.5f);
    EXPECT_TRUE(split.tuned.empty());
  }
}

TEST(SplitFakeQuantize, FewerLevelsAreClippedAndOtherRangesScaled) {
  ModelBuilder b;
  b.Input("x", {1, 2, 3, 3});
  Fake(b, "x", "y", {{}, {0}, {1.5f}, {0}, {15}}, 16).Output("y");
  const SplitResult split = SplitOf(b);
  EXPECT_THAT(OpsOf(split.graph), ElementsAre("Mul", "Clip", "Quantize", "Dequantize"));
  EXPECT_FLOAT_EQ(BytesOf(split.graph).quant->scale, 1);
}

TEST(SplitFakeQuantize, TakesTheDequantizationBehindIt) {
  ModelBuilder b;
  b.Input("x", {1, 2, 3, 3}).Floats("z", {}, {100}).Floats("s", {}, {0.5f});
  Fake(b, "x", "q", {{}, {-50}, {77.5f}, {0}, {255}});
  b.Node("Sub", {"q", "z"}, {"d"}).Node("Mul", {"d", "s"}, {"y"}).Output("y");
  const SplitResult split = SplitOf(b);
  EXPECT_THAT(OpsOf(split.graph), ElementsAre("Quantize", "Dequantize"));
  EXPECT_EQ(BytesOf(split.graph).quant->zero_point, 100);
}

TEST(SplitFakeQuantize, KeepsWhatEightBitsCannotHold) {
  struct Case {
    float low, high;
    int levels;
  };
  for (const Case& c : {Case{-1, 1, 65536}, Case{1, 2, 256}, Case{1, -1, 256}}) {
    ModelBuilder b;
    b.Input("x", {1, 2, 3, 3});
    Fake(b, "x", "y", Same(c.low, c.high), c.levels).Output("y");
    EXPECT_THAT(OpsOf(SplitOf(b).graph), ElementsAre("FakeQuantize"));
  }
}

ModelBuilder Residual() {
  ModelBuilder b;
  b.Input("a", {1, 2, 3, 3}).Input("c", {1, 2, 3, 3});
  Fake(b, "a", "fa", Same(-64, 63.5f));
  Fake(b, "c", "fc", Same(-64, 63.5f));
  b.Node("Add", {"fa", "fc"}, {"s"});
  Fake(b, "s", "y", Same(-64, 63.5f)).Output("y");
  return b;
}

TEST(SplitFakeQuantize, DropsTheRoundOfOneOperandOfASumWhenAsked) {
  ModelBuilder b = Residual();
  EXPECT_TRUE(SplitOf(b).unrounded.empty());
  const SplitResult split = SplitOf(b, true);
  EXPECT_THAT(split.unrounded, ElementsAre("fa"));
  EXPECT_THAT(OpsOf(split.graph), ::testing::Contains("Clip"));
}

}  // namespace
}  // namespace rshift
