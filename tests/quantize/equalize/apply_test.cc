#include "quantize/equalize/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/base/error_of.h"
#include "tests/quantize/equalize/hidden_scales.h"

namespace rshift::test {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const Graph& graph, const Equalization& equalization) {
  return ErrorOf([&] { Equalize(graph, equalization, "t.yaml"); });
}

TEST(Equalize, EveryOtherTensorKeepsItsBits) {
  LittleGraph net = SeparableNet();
  net.Calibrate();
  const Equalization equalization = {{"a", {-3, 0, 2, -7}}, {"b", {0, 5, -4, 1}}};
  const Graph scaled = Equalize(net.graph(), equalization, "t.yaml");
  for (const Tensors& sample : net.samples()) {
    const Tensors before = Execute(net.graph(), sample), after = Execute(scaled, sample);
    EXPECT_EQ(before.at("y").data, after.at("y").data);
    for (const ChannelExponents& entry : equalization) {
      const std::vector<double>&was = before.at(entry.tensor).data,
            &is = after.at(entry.tensor + "__equalized").data;
      for (size_t i = 0; i < was.size(); ++i)
        EXPECT_EQ(is[i], std::ldexp(was[i], -entry.exponents[i % 4])) << entry.tensor << i;
    }
  }
}

TEST(Equalize, AFunctionTakesTheExponentsOfBothSides) {
  LittleGraph net(13);
  const ValueId x = net.Input("x", {1, 4});
  const ValueId a = net.Add("a", MatMul{}, {x, net.RandomConstant("wa", {4, 3}, -1, 1)}, {1, 3});
  const ValueId b = net.Add("b", Unary(UnaryOp::kHardSwish), {a}, {1, 3});
  net.Output(net.Add("y", MatMul{}, {b, net.RandomConstant("wy", {3, 2}, -1, 1)}, {1, 2}));
  net.Calibrate();
  const Equalization equalization = {{"a", {-3, 0, 4}}, {"b", {0, 2, -1}}};
  const Graph scaled = Equalize(net.graph(), equalization, "t.yaml");
  const auto& function = std::get<Unary>(scaled.nodes()[1].op);
  EXPECT_EQ(function.input_exponents, equalization[0].exponents);
  EXPECT_EQ(function.output_exponents, equalization[1].exponents);
  for (const Tensors& sample : net.samples())
    EXPECT_EQ(Execute(net.graph(), sample).at("y").data, Execute(scaled, sample).at("y").data);
}

// As PaddleOCR's backbones have it behind every function: x * 0.75 + 0.5.
TEST(Equalize, TheOneNumberOfASumBecomesOneForEachChannel) {
  LittleGraph net(13);
  const ValueId x = net.Input("x", {1, 4});
  const ValueId a = net.Add("a", MatMul{}, {x, net.RandomConstant("wa", {4, 3}, -1, 1)}, {1, 3});
  const ValueId b = net.Add("b", Unary(UnaryOp::kHardSwish), {a}, {1, 3});
  const ValueId c =
      net.Add("c", Binary{BinaryOp::kMul, {}}, {b, net.Constant("m", {}, {0.75f})}, {1, 3});
  const ValueId d =
      net.Add("d", Binary{BinaryOp::kAdd, {}}, {net.Constant("s", {1}, {0.5f}), c}, {1, 3});
  net.Output(net.Add("y", MatMul{}, {d, net.RandomConstant("wy", {3, 2}, -1, 1)}, {1, 2}));
  net.Calibrate();
  const std::vector<int32_t> exponents = {0, 2, -1};
  const Graph scaled = Equalize(net.graph(), {{"b", exponents}, {"d", exponents}}, "t.yaml");
  const Value& numbers = scaled.value(scaled.nodes()[3].inputs[0]);
  EXPECT_EQ(numbers.shape, Shape({3}));
  EXPECT_THAT(numbers.constant->As<float>(), ::testing::ElementsAre(0.5f, 0.125f, 1.0f));
  for (const Tensors& sample : net.samples())
    EXPECT_EQ(Execute(net.graph(), sample).at("y").data, Execute(scaled, sample).at("y").data);
}

TEST(Equalize, AnUpperBoundIsThatOfTheLeastScaledChannel) {
  const LittleGraph net = SeparableNet({0.0f, 6.0f});
  const Graph scaled = Equalize(net.graph(), {{"a", {-3, -1, -2, -7}}}, "t.yaml");
  EXPECT_EQ(std::get<Conv>(scaled.nodes()[0].op).clamp.hi, 12.0f);
}

TEST(Equalize, RefusesWhatIsNotTheGraphs) {
  const LittleGraph net = SeparableNet();
  EXPECT_THAT(Refusal(net.graph(), {{"c", {1, 1, 1, 1}}}),
              HasSubstr("t.yaml: equalization of tensor 'c', which the model does not have"));
  EXPECT_THAT(Refusal(net.graph(), {{"a", {1, 1, 1}}}), HasSubstr("3 exponents, expected 4"));
  EXPECT_THAT(Refusal(net.graph(), {{"x", {1, 1, 1}}}), HasSubstr("cannot be scaled"));
  EXPECT_THAT(Refusal(net.graph(), {{"a", {64, 64, 64, 64}}, {"b", {-64, 0, 0, 0}}}),
              HasSubstr("no error"));
}

// Conv 1x1 whose channel 1 has one weight of `weight`, and a Conv that reads it.
Graph WithWeight(float weight) {
  LittleGraph net(9);
  const ValueId x = net.Input("x", {1, 1, 1, 2});
  const ValueId a =
      net.Add("a", Conv{}, {x, net.Constant("wa", {2, 2, 1, 1}, {0.5f, 1.0f, weight, 0.25f})},
              {1, 1, 1, 2});
  net.Output(
      net.Add("y", Conv{}, {a, net.RandomConstant("wy", {1, 2, 1, 1}, -1, 1)}, {1, 1, 1, 1}));
  return net.graph();
}

TEST(Equalize, WeightsMayBecomeTinyOrZero) {
  for (const float tiny : {1e-33f, -1e-33f, 3e-39f}) {
    for (const int32_t exponent : {10, 20, 64}) {
      const Graph scaled = Equalize(WithWeight(tiny), {{"a", {0, exponent}}}, "t.yaml");
      const auto weights = scaled.value(scaled.nodes()[0].inputs[1]).constant->As<float>();
      EXPECT_EQ(weights[1], 1.0f);
      EXPECT_NEAR(weights[2], std::ldexp(static_cast<double>(tiny), -exponent), 0x1p-149);
      EXPECT_EQ(weights[3], std::ldexp(0.25f, -exponent));
    }
  }
}

TEST(Equalize, RefusesAConstantThatOverflows) {
  EXPECT_THAT(
      Refusal(WithWeight(1e33f), {{"a", {0, -20}}}),
      HasSubstr("t.yaml: equalization brings a constant of 'a_node' (9.99999994e+32 x 2^20) "
                "beyond f32's range"));
  EXPECT_EQ(Refusal(WithWeight(1e33f), {{"a", {0, -18}}}), "no error");
}

TEST(Equalize, ChannelsOfOneGroupNeedOneExponent) {
  LittleGraph net(5);
  const ValueId x = net.Input("x", {1, 4});
  const ValueId a = net.Add("a", MatMul{}, {x, net.RandomConstant("w", {4, 2}, -1, 1)}, {1, 2});
  const ValueId b = net.Add("b", MatMul{}, {x, net.RandomConstant("v", {4, 2}, -1, 1)}, {1, 2});
  const ValueId sum = net.Add("sum", Binary{BinaryOp::kAdd, {}}, {a, b}, {1, 2});
  net.Output(net.Add("y", MatMul{}, {sum, net.RandomConstant("u", {2, 3}, -1, 1)}, {1, 3}));
  EXPECT_THAT(Refusal(net.graph(), {{"a", {1, 2}}, {"b", {1, 3}}}),
              HasSubstr("'b', channel 1: exponent 3, another tensor of the same channel has 2"));
}

}  // namespace
}  // namespace rshift::test
