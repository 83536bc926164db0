// Softmax and normalizations of tpu against the real function of their own integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

// Largest distance, in units, of y from the real result of x as its integers have it.
double WorstOfOne(const LittleGraph& little, const QuantizeResult& result) {
  const Graph& graph = result.graph;
  const QuantParams qx = *graph.value(graph.FindValue("x__q")).quant;
  const Value& y = graph.value(graph.FindValue("y"));
  const double lowest = y.dtype == DType::kU8 ? 0.0 : -128.0;
  double worst = 0;
  for (const Tensors& sample : little.samples()) {
    const Tensors integers = Execute(graph, sample);
    Tensor x = integers.at("x__q");
    for (double& v : x.data) v = static_cast<double>(qx.scale) * (v - qx.zero_point);
    const Tensor exact = Execute(little.graph(), {{"x", x}}).at("y");
    for (size_t i = 0; i < exact.data.size(); ++i) {
      const double units =
          exact.data[i] / static_cast<double>(y.quant->scale) + y.quant->zero_point;
      const double clamped = std::min(std::max(units, lowest), lowest + 255);
      worst = std::max(worst, std::fabs(integers.at("y").data[i] - clamped));
    }
  }
  return worst;
}

QuantizeConfig AllInteger(bool log = false) {
  QuantizeConfig config;
  config.types[log ? "LogSoftmax" : "Softmax"].float32 = false;
  return config;
}

TEST(SoftmaxTest, ErrsByLittleMoreThanHalfAUnit) {
  uint32_t seed = 1;
  for (const QuantMode mode : kModes) {
    for (const Shape& shape : {Shape{3, 10}, Shape{2, 4, 197}, Shape{1, 3, 1}, Shape{2, 1500}}) {
      for (const float reach : {0.5f, 6.0f, 40.0f}) {
        SCOPED_TRACE(seed);
        LittleGraph little(seed++);
        const ValueId x = little.Input("x", shape, -reach, reach / 2);
        little.Output(little.Add("y", Softmax{.axis = -1}, {x}, shape));
        QuantizeOptions options = Mode(mode);
        options.config = AllInteger();
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
        ASSERT_EQ(Count<QSoftmax>(result.graph), 1);
        EXPECT_LE(WorstOfOne(little, result), 0.51);
      }
    }
  }
}

TEST(LogSoftmaxTest, ErrsByLittleMoreThanHalfAUnit) {
  uint32_t seed = 1;
  for (const QuantMode mode : kModes) {
    for (const Shape& shape : {Shape{3, 2}, Shape{2, 4, 197}, Shape{5, 21}, Shape{2, 1500}}) {
      for (const float reach : {0.5f, 6.0f, 40.0f}) {
        SCOPED_TRACE(seed);
        LittleGraph little(seed++);
        const ValueId x = little.Input("x", shape, -reach, reach / 2);
        little.Output(little.Add("y", Softmax{.axis = -1, .log = true}, {x}, shape));
        QuantizeOptions options = Mode(mode);
        options.config = AllInteger(true);
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
        ASSERT_EQ(Count<QSoftmax>(result.graph), 1);
        EXPECT_LE(WorstOfOne(little, result), 0.51);
      }
    }
  }
}

// -ln 1 has no range of its own: all rows are zeros.
TEST(LogSoftmaxTest, RowsOfOneElementAreZero) {
  LittleGraph little;
  const ValueId x = little.Input("x", {4, 1}, -3, 3);
  little.Output(little.Add("y", Softmax{.axis = 1, .log = true}, {x}, {4, 1}));
  QuantizeOptions options;
  options.config = AllInteger(true);
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
  ASSERT_EQ(Count<QSoftmax>(result.graph), 1);
  EXPECT_EQ(WorstOfOne(little, result), 0);
}

TEST(SoftmaxTest, AnotherAxisIsTransposedToTheEnd) {
  for (const int64_t axis : {0, 1, 2, 3, 4, 5}) {
    LittleGraph little(7);
    const ValueId x = little.Input("x", {4, 5, 6}, -3, 3);
    const bool log = axis > 2;
    little.Output(little.Add("y", Softmax{.axis = axis % 3, .log = log}, {x}, {4, 5, 6}));
    QuantizeOptions options = Mode(QuantMode::kAsymmetric);
    options.config = AllInteger(log);
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
    EXPECT_EQ(Count<Transpose>(result.graph), axis % 3 == 2 ? 0 : 2);
    EXPECT_LE(WorstOfOne(little, result), 0.51);
  }
}

// TFLite's softmax has one output type; what it gives is rescaled before it is transposed back.
TEST(SoftmaxTest, AnotherAxisOfAFrameworkWithOneOutputType) {
  LittleGraph little(7);
  const ValueId x = little.Input("x", {4, 5, 6}, -3, 3);
  little.Output(little.Add("y", Softmax{.axis = 1}, {x}, {4, 5, 6}));
  QuantizeOptions options = Mode(QuantMode::kSymmetric);
  options.config = AllInteger(false);
  options.profile.id = ProfileId::kTfLiteRef;
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
  const ValueId raw = result.graph.FindValue("y__raw");
  ASSERT_TRUE(raw.valid());
  EXPECT_EQ(result.graph.value(raw).shape, (Shape{4, 6, 5}));
}

void ExpectFinalStaysFloat(bool log) {
  LittleGraph little;
  const ValueId x = little.Input("x", {2, 8});
  const ValueId w = little.RandomConstant("w", {8, 5}, -1, 1);
  const ValueId logits = little.Add("logits", MatMul{}, {x, w}, {2, 5});
  const ValueId y = little.Add("y", Softmax{.axis = -1, .log = log}, {logits}, {2, 5});
  little.Output(little.Add("flat", Reshape{}, {y}, {10}));
  const CalibrationTable table = little.Calibrate();
  const QuantizeResult result = QuantizeGraph(little.graph(), table, {});
  EXPECT_EQ(Count<QSoftmax>(result.graph), 0);
  ASSERT_GE(result.report.float_nodes.size(), 1u);
  EXPECT_NE(result.report.float_nodes[0].reason.find("mode: int8"), std::string::npos);
  QuantizeOptions options;
  options.config = AllInteger(log);
  EXPECT_EQ(Count<QSoftmax>(QuantizeGraph(little.graph(), table, options).graph), 1);
}

TEST(SoftmaxTest, AnOutputOfTheModelStaysFloatUnlessAskedFor) { ExpectFinalStaysFloat(false); }
TEST(LogSoftmaxTest, AnOutputOfTheModelStaysFloatUnlessAskedFor) { ExpectFinalStaysFloat(true); }

TEST(SoftmaxTest, BetweenProductsItIsInteger) {
  LittleGraph little;
  const ValueId x = little.Input("x", {2, 4, 6});
  const ValueId w = little.Input("w", {2, 6, 5});
  const ValueId v = little.Input("v", {2, 5, 3});
  const ValueId scores = little.Add("scores", MatMul{}, {x, w}, {2, 4, 5});
  const ValueId p = little.Add("p", Softmax{.axis = -1}, {scores}, {2, 4, 5});
  const ValueId l = little.Add("l", Softmax{.axis = -1, .log = true}, {scores}, {2, 4, 5});
  little.Output(little.Add("y", MatMul{}, {p, v}, {2, 4, 3}));
  little.Output(little.Add("z", MatMul{}, {l, v}, {2, 4, 3}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), {});
  EXPECT_TRUE(result.report.float_nodes.empty());
  EXPECT_EQ(Count<QSoftmax>(result.graph), 2);
}

TEST(LayerNormTest, ErrsByLittleMoreThanHalfAUnit) {
  uint32_t seed = 1;
  for (const QuantMode mode : kModes) {
    for (const Shape& shape : {Shape{3, 64}, Shape{2, 5, 768}, Shape{4, 2}, Shape{2, 3, 7, 5}}) {
      for (const float epsilon : {0.0f, 1e-5f, 1e-12f, 0.5f}) {
        SCOPED_TRACE(seed);
        LittleGraph little(seed++);
        const int64_t axis = shape.size() == 4 ? 2 : static_cast<int64_t>(shape.size()) - 1;
        const Shape row(shape.begin() + axis, shape.end());
        const ValueId x = little.Input("x", shape, -1, seed % 3 == 0 ? 20.0f : 1.0f);
        const ValueId scale = little.RandomConstant("scale", row, -2, 3);
        const ValueId bias = little.RandomConstant("bias", row, -1, 1);
        std::vector<ValueId> inputs = {x, scale, bias};
        if (seed % 4 == 0) inputs.pop_back();
        const LayerNorm norm{.axis = axis, .epsilon = epsilon, .rms = seed % 5 < 2};
        little.Output(little.Add("y", norm, inputs, shape));
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
        ASSERT_EQ(Count<QNormalize>(result.graph), 1);
        EXPECT_EQ(Only<QNormalize>(result.graph).center, !norm.rms);
        EXPECT_LE(WorstOfOne(little, result), 0.51);
      }
    }
  }
}

TEST(InstanceNormTest, EachChannelByItself) {
  uint32_t seed = 1;
  for (const QuantMode mode : kModes) {
    for (const Shape& shape : {Shape{2, 5, 4, 3}, Shape{1, 16, 9, 70}}) {
      SCOPED_TRACE(seed);
      LittleGraph little(seed++);
      const ValueId x = little.Input("x", shape, -1, 3);
      const ValueId scale = little.RandomConstant("scale", {shape.back()}, 0.5f, 3);
      const ValueId bias = little.RandomConstant("bias", {shape.back()}, -1, 1);
      little.Output(little.Add("y", InstanceNorm{.epsilon = 1e-5f}, {x, scale, bias}, shape));
      const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
      ASSERT_EQ(Count<QNormalize>(result.graph), 1);
      EXPECT_TRUE(Only<QNormalize>(result.graph).channels);
      EXPECT_LE(WorstOfOne(little, result), 0.51);
    }
  }
}

TEST(LayerNormTest, ScalesThatAreComputedStayFloat) {
  LittleGraph little;
  const ValueId x = little.Input("x", {3, 8});
  const ValueId scale = little.Input("scale", {8});
  little.Output(little.Add("y", LayerNorm{.axis = 1, .epsilon = 1e-5f}, {x, scale}, {3, 8}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), {});
  ASSERT_EQ(result.report.float_nodes.size(), 1u);
  EXPECT_EQ(result.report.float_nodes[0].reason, "its scale or bias is not constant");
}

}  // namespace
}  // namespace rshift::test
