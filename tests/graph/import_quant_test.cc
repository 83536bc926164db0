// QuantizeLinear and DequantizeLinear: activations, constants with their integers, and everything
// that is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/dump.h"
#include "tests/graph/onnx_builder.h"
#include "tests/graph/origin.h"

namespace rshift {
namespace {

using testing::Elements;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelBuilder;

constexpr auto kU8 = onnx::TensorProto::UINT8;
constexpr auto kS8 = onnx::TensorProto::INT8;
constexpr auto kS32 = onnx::TensorProto::INT32;

ModelBuilder& Integers(ModelBuilder& b, const std::string& name, const Shape& shape, int type,
                       const std::vector<int32_t>& values) {
  auto* tensor = b.graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (int64_t d : shape) tensor->add_dims(d);
  for (int32_t v : values) tensor->add_int32_data(v);
  return b;
}

// x -> QuantizeLinear -> q -> DequantizeLinear -> y, scale 0.5, zero point as given.
ModelBuilder RoundTrip(int opset, int type, int zero, float scale = 0.5f) {
  ModelBuilder b(opset);
  b.Input("x", {2, 3}).Floats("s", {}, {scale});
  Integers(b, "z", {}, type, {zero});
  b.Node("QuantizeLinear", {"x", "s", "z"}, {"q"}).Node("DequantizeLinear", {"q", "s", "z"}, {"y"});
  b.Output("y");
  return b;
}

// w (constant) -> DequantizeLinear -> the result, as a graph of one constant and an Add.
Value Dequantized(ModelBuilder& b, const std::vector<std::string>& inputs,
                  const std::vector<testing::Attribute>& attributes = {}) {
  b.Node("DequantizeLinear", inputs, {"w"}, attributes);
  b.Node("Add", {"x", "w"}, {"y"}).Output("y");
  const Graph graph = b.Import();
  return graph.value(graph.nodes().at(0).inputs[1]);
}

std::string ErrorOf(const std::function<void(ModelBuilder&)>& fill) {
  ModelBuilder b(13);
  b.Input("x", {2, 3}).Floats("s", {}, {0.5f});
  Integers(b, "z", {}, kU8, {3});
  fill(b);
  return b.Output("y").ImportError();
}

TEST(ImportQuant, ActivationsBecomeNodesAndTheirIntegersHoldTheParameters) {
  for (int opset : {10, 13, 19, 21, 23}) {
    const Graph graph = RoundTrip(opset, kU8, 3).Import();
    EXPECT_EQ(testing::OpsOf(graph), "Quantize Dequantize");
    const Value& q = graph.value(graph.nodes()[0].outputs[0]);
    EXPECT_EQ(q.name, "q");
    EXPECT_EQ(q.dtype, DType::kU8);
    EXPECT_EQ(q.quant, (QuantParams{0.5f, 3}));
    EXPECT_EQ(testing::OutputOf(graph).dtype, DType::kF32);
    EXPECT_FALSE(testing::OutputOf(graph).quant.has_value());
  }
  const Graph graph = RoundTrip(13, kS8, -128).Import();
  EXPECT_EQ(graph.value(graph.nodes()[0].outputs[0]).dtype, DType::kS8);
  EXPECT_EQ(graph.value(graph.nodes()[0].outputs[0]).quant, (QuantParams{0.5f, -128}));
}

TEST(ImportQuant, WithoutAZeroPointTheTypeIsU8OrTheAttribute) {
  for (int type : {0, static_cast<int>(kU8), static_cast<int>(kS8)}) {
    ModelBuilder b(21);
    b.Input("x", {4}).Floats("s", {1}, {2.0f});
    b.Node("QuantizeLinear", {"x", "s"}, {"y"}, {{"output_dtype", type}}).Output("y");
    const Graph graph = b.Import();
    EXPECT_EQ(testing::OutputOf(graph).dtype, type == kS8 ? DType::kS8 : DType::kU8);
    EXPECT_EQ(testing::OutputOf(graph).quant, (QuantParams{2.0f, 0}));
  }
}

TEST(ImportQuant, ConstantsBecomeFloatsThatRememberTheirIntegers) {
  ModelBuilder b(13);
  b.Input("x", {2, 3}).Floats("s", {1}, {0.5f});
  Integers(b, "z", {1}, kU8, {128});
  Integers(b, "q", {2, 3}, kU8, {0, 128, 129, 130, 254, 255});
  const Value w = Dequantized(b, {"q", "s", "z"});
  EXPECT_THAT(Elements<float>(w), ElementsAre(-64.0f, 0.0f, 0.5f, 1.0f, 63.0f, 63.5f));
  ASSERT_NE(w.origin, nullptr);
  EXPECT_EQ(w.origin->dtype, DType::kU8);
  EXPECT_EQ(w.origin->axis, -1);
  EXPECT_THAT(w.origin->scales, ElementsAre(0.5f));
  EXPECT_THAT(w.origin->zero_points, ElementsAre(128));
  EXPECT_EQ(w.origin->integers->bytes, (std::vector<uint8_t>{0, 128, 129, 130, 254, 255}));
  EXPECT_THAT(DumpGraph(b.Import()), HasSubstr(" from u8 scale=0.5 zero=128\n"));
}

TEST(ImportQuant, ScalesPerChannelFollowTheAxis) {
  for (const auto& [axis, expected] : std::map<int, int>{{0, 0}, {1, 1}, {-1, 1}, {-2, 0}}) {
    ModelBuilder b(13);
    b.Input("x", {2, 2}).Floats("s", {2}, {1.0f, 10.0f});
    Integers(b, "z", {2}, kS8, {0, 1});
    Integers(b, "q", {2, 2}, kS8, {-128, 2, 3, 4});
    const Value w = Dequantized(b, {"q", "s", "z"}, {{"axis", axis}});
    ASSERT_NE(w.origin, nullptr);
    EXPECT_EQ(w.origin->axis, expected);
    if (expected == 0) {
      EXPECT_THAT(Elements<float>(w), ElementsAre(-128.0f, 2.0f, 20.0f, 30.0f));
    } else {
      EXPECT_THAT(Elements<float>(w), ElementsAre(-128.0f, 10.0f, 3.0f, 30.0f));
    }
    ExpectOriginMatches(w);
  }
}

TEST(ImportQuant, ABiasOf32BitsIsKeptExactly) {
  constexpr int32_t kLargest = std::numeric_limits<int32_t>::max();
  for (const bool zero_point : {false, true}) {
    ModelBuilder b(13);
    b.Input("x", {2, 3}).Floats("s", {3}, {1.0f, 0.25f, 1.0f});
    Integers(b, "z", {3}, kS32, {0, 0, 0});
    Integers(b, "q", {3}, kS32, {kLargest, -3, 16777217});
    const Value w = zero_point ? Dequantized(b, {"q", "s", "z"}, {{"axis", 0}})
                               : Dequantized(b, {"q", "s"}, {{"axis", 0}});
    EXPECT_THAT(Elements<float>(w), ElementsAre(2147483648.0f, -0.75f, 16777216.0f));
    ASSERT_NE(w.origin, nullptr);
    EXPECT_EQ(w.origin->dtype, DType::kS32);
    EXPECT_THAT(w.origin->integers->As<int32_t>(), ElementsAre(kLargest, -3, 16777217));
  }
}

TEST(ImportQuant, FloatWeightsThroughQuantizeAndDequantizeFoldToTheirIntegers) {
  ModelBuilder b(13);
  b.Input("x", {2, 4}).Floats("s", {}, {0.5f});
  Integers(b, "z", {}, kS8, {1});
  // Ties to even before the zero point is added, saturation at both ends.
  constexpr float kInf = std::numeric_limits<float>::infinity();
  b.Floats("w0", {2, 4}, {0.25f, 0.75f, -0.25f, -0.75f, 63.4f, 1000.0f, -64.4f, -kInf});
  b.Node("QuantizeLinear", {"w0", "s", "z"}, {"q"});
  const Value w = Dequantized(b, {"q", "s", "z"});
  ASSERT_NE(w.origin, nullptr);
  EXPECT_THAT(w.origin->integers->As<int8_t>(), ElementsAre(1, 3, 1, -1, 127, 127, -128, -128));
  ExpectOriginMatches(w);
}

TEST(ImportQuant, GemmTransposesTheIntegersAlike) {
  ModelBuilder b(13);
  b.Input("x", {1, 3}).Floats("s", {2}, {1.0f, 2.0f});
  Integers(b, "z", {2}, kS8, {0, 5});
  Integers(b, "q", {2, 3}, kS8, {1, 2, 3, 4, 5, 6});
  b.Node("DequantizeLinear", {"q", "s", "z"}, {"w"}, {{"axis", 0}});
  b.Node("Gemm", {"x", "w"}, {"y"}, {{"transB", 1}}).Output("y");
  const Graph graph = b.Import();
  const Value& w = graph.value(graph.nodes().at(0).inputs[1]);
  EXPECT_EQ(w.shape, (Shape{3, 2}));
  ASSERT_NE(w.origin, nullptr);
  EXPECT_EQ(w.origin->axis, 1);
  EXPECT_THAT(w.origin->integers->As<int8_t>(), ElementsAre(1, 4, 2, 5, 3, 6));
  ExpectOriginMatches(w);
}

TEST(ImportQuant, ReshapeKeepsTheIntegersAndArithmeticDropsThem) {
  ModelBuilder b(13);
  b.Input("x", {1, 2, 5}).Floats("s", {3}, {1.0f, 2.0f, 3.0f}).Floats("two", {}, {2.0f});
  Integers(b, "q", {3, 2, 3}, kS8, std::vector<int32_t>(18, 7));
  b.Node("DequantizeLinear", {"q", "s"}, {"w"}, {{"axis", 0}});
  b.Node("Mul", {"w", "two"}, {"w2"});
  b.Node("Conv", {"x", "w"}, {"y"}).Node("Conv", {"x", "w2"}, {"y2"}).Output("y").Output("y2");
  const Graph graph = b.Import();
  int kept = 0, dropped = 0;
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<Conv>(node.op)) continue;
    const Value& w = graph.value(node.inputs[1]);
    EXPECT_EQ(w.shape, (Shape{3, 2, 1, 3}));  // 1-D convolutions get a height
    if (w.origin == nullptr) {
      ++dropped;
      continue;
    }
    ++kept;
    EXPECT_EQ(w.origin->axis, 0);
    ExpectOriginMatches(w);
  }
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(dropped, 1);
}

TEST(ImportQuant, BytesThatOnlyMoveTakeTheirNeighboursParameters) {
  ModelBuilder b(13);
  b.Input("x", {2, 3}).Floats("s", {}, {0.5f}).Ints("shape", {1}, {6});
  Integers(b, "z", {}, kU8, {3});
  b.Node("QuantizeLinear", {"x", "s", "z"}, {"q"}).Node("Reshape", {"q", "shape"}, {"r"});
  b.Node("Transpose", {"r"}, {"t"}).Output("t");
  const Graph graph = b.Import();
  for (const Node& node : graph.nodes()) {
    EXPECT_EQ(graph.value(node.outputs[0]).quant, (QuantParams{0.5f, 3})) << node.name;
  }
  ModelBuilder other(13);
  other.Input("x", {2, 3}, kU8).Floats("s", {}, {0.5f}).Ints("shape", {1}, {6});
  Integers(other, "z", {}, kU8, {3});
  other.Node("Reshape", {"x", "shape"}, {"r"}).Node("DequantizeLinear", {"r", "s", "z"}, {"y"});
  const Graph backward = other.Output("y").Import();
  EXPECT_EQ(backward.value(backward.inputs[0]).quant, (QuantParams{0.5f, 3}));
}

TEST(ImportQuant, AccumulatorsOf32BitsAreScaledInF32) {
  ModelBuilder b(13);
  b.Input("x", {2}, kS32).Floats("s", {}, {0.5f});
  b.Node("DequantizeLinear", {"x", "s"}, {"y"}).Output("y");
  EXPECT_EQ(testing::OpsOf(b.Import()), "Cast Mul");
}

TEST(ImportQuant, BadParametersAreErrorsThatNameTheTensor) {
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (float scale : {0.0f, -1.0f, kNan, std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(RoundTrip(13, kU8, 3, scale).ImportError(),
                HasSubstr("q (QuantizeLinear): scale 's' holds "));
  }
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                Integers(b, "z2", {2}, kU8, {1, 2});
                b.Node("QuantizeLinear", {"x", "s", "z2"}, {"y"});
              }),
              HasSubstr("zero point 'z2' has the shape 2, but scale 's' has 1 elements"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                Integers(b, "q", {2}, kS8, {1, 2});
                b.Node("DequantizeLinear", {"q", "s", "z"}, {"y"});
              }),
              HasSubstr("zero point 'z' has type u8, but the integers of this tensor are s8"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                Integers(b, "q", {2}, kS32, {1, 2});
                Integers(b, "zero", {}, kS32, {4});
                b.Node("DequantizeLinear", {"q", "s", "zero"}, {"y"});
              }),
              HasSubstr("zero point 'zero' holds 4, expected 0 for integers of type s32"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                b.Floats("s4", {4});
                Integers(b, "q", {2, 3}, kS8, {1, 2, 3, 4, 5, 6});
                b.Node("DequantizeLinear", {"q", "s4"}, {"y"});
              }),
              HasSubstr("scale 's4' has 4 elements, but 'q' has 3 channels along axis 1 of 2x3"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                b.Floats("c", {2}, {1.0f, kNan});
                b.Node("QuantizeLinear", {"c", "s", "z"}, {"y"});
              }),
              HasSubstr("constant 'c' holds NaN"));
}

TEST(ImportQuant, WhatHasNoIntegersHereIsRefusedByName) {
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                b.Node("QuantizeLinear", {"x", "s", "z"}, {"y"}, {{"block_size", 2}});
              }),
              HasSubstr("scale 's' has type f32 and shape"));
  EXPECT_THAT(
      ErrorOf([](ModelBuilder& b) {
        b.Ints("q", {1}, {0}).Node("DequantizeLinear", {"q", "s"}, {"y"});
      }),
      HasSubstr("dequantizes 'q' of type s64; only s8, u8, s16, u16 and s32 are supported"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                b.Node("QuantizeLinear", {"x", "s"}, {"y"}, {{"output_dtype", 17}});
              }),
              HasSubstr("element type FLOAT8E4M3FN is not supported"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                b.Input("computed", {}).Node("QuantizeLinear", {"x", "computed"}, {"y"});
              }),
              HasSubstr("scale 'computed' is computed from the model's input"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                b.Floats("s2", {}, {0.25f}).Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
                b.Node("DequantizeLinear", {"q", "s2", "z"}, {"y"});
              }),
              HasSubstr("reads 'q' with scale 0.25 and zero point 3, but elsewhere it has 0.5"));
  EXPECT_THAT(ErrorOf([](ModelBuilder& b) {
                b.Floats("s2", {}, {0.25f}).Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
                b.Node("Identity", {"q"}, {"r"}).Node("DequantizeLinear", {"r", "s2", "z"}, {"y"});
              }),
              HasSubstr("Identity moves the integers 'q' to 'r'"));
}

}  // namespace
}  // namespace rshift
