#include <gtest/gtest.h>

#include <cmath>

#include "quantize/profiles/arithmetic.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

const Shape kShape = {1, 6, 5, 4};

// x -> a -> b -> c -> y: HardSwish, a product, a sum, a slope.
struct Chain {
  LittleGraph little{7};
  ValueId a, b, c, y;
  Chain() {
    const ValueId x = little.Input("x", kShape, -6, 9);
    a = little.Add("a", Unary{UnaryOp::kHardSwish}, {x}, kShape);
    b = little.Add("b", Binary{BinaryOp::kMul, {}}, {little.Constant("m", {1}, {-0.7f}), a},
                   kShape);
    c = little.Add("c", Binary{BinaryOp::kAdd, {}}, {b, little.Constant("s", {}, {2.5f})}, kShape);
    y = little.Add("y", LeakyRelu{0.2f}, {c}, kShape);
    little.Output(y);
  }
};

// Between Quantize and Dequantize, in both modes.
void ExpectOneTable(LittleGraph& little) {
  for (QuantMode mode : kModes) {
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<QTable>(r.graph), 1);
    EXPECT_EQ(r.graph.nodes().size(), 3u);
    EXPECT_LE(OwnError(little, r, "y"), 0.501);
  }
}

void ExpectOneTableOf16Bits(LittleGraph& little) {
  QuantizeOptions options = Mode(QuantMode::kSymmetric);
  options.activation_bits = 16;
  const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), options);
  EXPECT_EQ(Count<QTableS16>(r.graph), 1);
  EXPECT_EQ(r.graph.nodes().size(), 3u);
  EXPECT_LE(OwnError(little, r, "y"), 1.01);
}

TEST(FunctionChainsTest, AreOneTableRoundedOnce) {
  Chain chain;
  ExpectOneTable(chain.little);
}

TEST(FunctionChainsTest, SixteenBits) {
  Chain chain;
  ExpectOneTableOf16Bits(chain.little);
}

TEST(FunctionChainsTest, WhatOthersReadEndsAChain) {
  Chain chain;
  chain.little.Output(chain.b);
  const QuantizeResult r =
      QuantizeGraph(chain.little.graph(), chain.little.Calibrate(), Mode(QuantMode::kSymmetric));
  EXPECT_EQ(Count<QTable>(r.graph), 2);
  EXPECT_TRUE(r.graph.FindValue("b").valid());
}

TEST(FunctionChainsTest, WhatTheUserHasSetIsKept) {
  Chain chain;
  const CalibrationTable table = chain.little.Calibrate();
  QuantizeOptions options = Mode(QuantMode::kSymmetric);
  options.config.layers["c"].float32 = true;
  QuantizeResult r = QuantizeGraph(chain.little.graph(), table, options);
  EXPECT_EQ(r.report.float_nodes.size(), 2u);  // y, too, between it and the output
  EXPECT_EQ(Count<QTable>(r.graph), 1);        // a and b
  options = Mode(QuantMode::kSymmetric);
  options.config.layers["b"].threshold = 3.0f;
  r = QuantizeGraph(chain.little.graph(), table, options);
  EXPECT_EQ(r.graph.value(r.graph.FindValue("b")).quant->scale, 3.0f / 128);
  EXPECT_EQ(Count<QTable>(r.graph), 2);
}

TEST(FunctionChainsTest, OtherProfilesKeepTheirOperators) {
  Chain chain;
  QuantizeOptions options = Mode(QuantMode::kAsymmetric);
  options.profile = {ProfileId::kTfLite};
  const QuantizeResult r = QuantizeGraph(chain.little.graph(), chain.little.Calibrate(), options);
  for (const char* name : {"a", "b", "c", "y"}) EXPECT_TRUE(r.graph.FindValue(name).valid());
}

// A product and a sum that passes have written for each channel, with one number all the same.
TEST(FunctionChainsTest, ConstantsOfEqualElementsAreOneNumber) {
  for (const float last : {0.5f, 0.625f}) {
    LittleGraph little(7);
    const ValueId x = little.Input("x", kShape, -3, 4);
    const ValueId a = little.Add("a", Unary{UnaryOp::kTanh}, {x}, kShape);
    const ValueId m = little.Constant("m", {4}, {0.5f, 0.5f, 0.5f, last});
    const ValueId b = little.Add("b", Binary{BinaryOp::kMul, {}}, {a, m}, kShape);
    const ValueId s = little.Constant("s", {4}, {0.25f, 0.25f, 0.25f, 0.25f});
    little.Output(little.Add("y", Binary{BinaryOp::kAdd, {}}, {s, b}, kShape));
    const QuantizeResult r =
        QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
    EXPECT_EQ(r.graph.nodes().size(), last == 0.5f ? 3u : 4u);
  }
}

// x - Tanh(x), then its square, as a product with itself, and a sum.
struct Region {
  LittleGraph little{7};
  ValueId x, tanh, rest;
  explicit Region(bool tanh_is_output = false) {
    x = little.Input("x", kShape, -3, 4);
    tanh = little.Add("tanh", Unary{UnaryOp::kTanh}, {x}, kShape);
    rest = little.Add("rest", Binary{BinaryOp::kSub, {}}, {x, tanh}, kShape);
    const ValueId square = little.Add("square", Binary{BinaryOp::kMul, {}}, {rest, rest}, kShape);
    little.Output(little.Add("y", Binary{BinaryOp::kSub, {}},
                             {square, little.Constant("s", {}, {0.25f})}, kShape));
    if (tanh_is_output) little.Output(tanh);
  }
};

TEST(FunctionRegionsTest, OfOneValueAreOneTableRoundedOnce) {
  Region region;
  ExpectOneTable(region.little);
}

TEST(FunctionRegionsTest, SixteenBits) {
  Region region;
  ExpectOneTableOf16Bits(region.little);
}

// Tanh stays where others read it, or where the user says something of it; what is behind the
// difference is a function of that, then.
TEST(FunctionRegionsTest, WhatOthersReadOrTheUserSetsStays) {
  Region output(/*tanh_is_output=*/true);
  QuantizeResult r =
      QuantizeGraph(output.little.graph(), output.little.Calibrate(), Mode(QuantMode::kSymmetric));
  EXPECT_TRUE(r.graph.FindValue("rest").valid());
  EXPECT_FALSE(r.graph.FindValue("square").valid());
  EXPECT_EQ(Count<QTable>(r.graph), 2);
  Region set;
  QuantizeOptions options = Mode(QuantMode::kSymmetric);
  options.config.layers["tanh"].threshold = 1.0f;
  r = QuantizeGraph(set.little.graph(), set.little.Calibrate(), options);
  EXPECT_TRUE(r.graph.FindValue("tanh").valid());
  EXPECT_EQ(Count<QTable>(r.graph), 2);
}

TEST(FunctionRegionsTest, TwoValuesAreNoFunctionOfOne) {
  LittleGraph little(7);
  const ValueId x = little.Input("x", kShape, -3, 4), z = little.Input("z", kShape, -1, 1);
  const ValueId a = little.Add("a", Unary{UnaryOp::kTanh}, {x}, kShape);
  const ValueId b = little.Add("b", Binary{BinaryOp::kMul, {}}, {a, z}, kShape);
  little.Output(little.Add("y", Binary{BinaryOp::kAdd, {}}, {a, b}, kShape));
  const QuantizeResult r =
      QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
  for (const char* name : {"a", "b", "y"}) EXPECT_TRUE(r.graph.FindValue(name).valid());
}

// Channels whose scales equalization has chosen.
TEST(FunctionChainsTest, ExponentsOfChannels) {
  LittleGraph little(9);
  const ValueId x = little.Input("x", kShape, -1, 1);
  Unary silu{UnaryOp::kSilu};
  silu.input_exponents = {0, 2, 3, 0};
  const ValueId a = little.Add("a", silu, {x}, kShape);
  little.Output(
      little.Add("y", Binary{BinaryOp::kMul, {}}, {a, little.Constant("m", {}, {3})}, kShape));
  const QuantizeResult r =
      QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
  EXPECT_EQ(Count<QChannelTables>(r.graph), 1);
  EXPECT_EQ(Count<QTable>(r.graph), 0);
  EXPECT_EQ(Only<QChannelTables>(r.graph).entries.size(), 3u * 256);
  EXPECT_LE(OwnError(little, r, "y"), 0.501);
}

// The one number of a sum is one for each channel where equalization has scaled them.
TEST(FunctionChainsTest, SumsOfScaledChannels) {
  const std::vector<int32_t> exponents = {0, 2, -1, 3};
  for (const bool behind_function : {true, false}) {
    for (const float last : {0.3125f, 0.3f}) {  // the sum's number / 8, another number
      LittleGraph little(9);
      const ValueId x = little.Input("x", kShape, -4, 4);
      ValueId a;
      if (behind_function) {
        Unary swish{UnaryOp::kHardSwish};
        swish.output_exponents = exponents;
        a = little.Add("a", swish, {x}, kShape);
      } else {
        a = little.Add("a", LeakyRelu{0.5f}, {x}, kShape);
      }
      const ValueId m = little.Constant("m", {1}, {0.75f});
      const ValueId b = little.Add("b", Binary{BinaryOp::kMul, {}}, {a, m}, kShape);
      const ValueId s = little.Constant("s", {4}, {2.5f, 0.625f, 5.0f, last});
      little.Output(little.Add("y", Binary{BinaryOp::kSub, {}}, {s, b}, kShape));
      const QuantizeResult r =
          QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
      const bool one = last == 0.3125f;
      EXPECT_EQ(r.graph.nodes().size(), one ? 3u : 4u);
      EXPECT_EQ(Count<QChannelTables>(r.graph), one || behind_function ? 1 : 0);
      EXPECT_LE(OwnError(little, r, "y"), one ? 0.501 : 2.5);
    }
  }
}

// Functions whose scales of channels meet are one table; others are not.
TEST(FunctionChainsTest, ScalesThatMeet) {
  for (const bool meet : {true, false}) {
    LittleGraph little(9);
    const ValueId x = little.Input("x", kShape, -4, 4);
    Unary first{UnaryOp::kHardSwish}, second{UnaryOp::kSilu};
    first.output_exponents = {0, 2, 1, 3};
    if (meet) second.input_exponents = first.output_exponents;
    const ValueId a = little.Add("a", first, {x}, kShape);
    const ValueId b = little.Add("b", LeakyRelu{0.5f}, {a}, kShape);
    little.Output(little.Add("y", second, {b}, kShape));
    const QuantizeResult r =
        QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
    EXPECT_EQ(r.graph.nodes().size(), meet ? 3u : 4u);
    EXPECT_EQ(Count<QTable>(r.graph), 1);
    EXPECT_EQ(Count<QChannelTables>(r.graph), meet ? 0 : 1);
  }
}

// The exponents of a sum in front of a function are told from its numbers, up to one for all
// channels, which the function decides: the number is 0.625 here.
TEST(FunctionChainsTest, SumsInFrontOfScaledFunctions) {
  for (const bool slope_before : {true, false}) {
    for (const int32_t octaves : {0, 3, -2}) {
      LittleGraph little(9);
      const ValueId x = little.Input("x", kShape, -4, 4);
      const ValueId a = slope_before ? little.Add("a", LeakyRelu{0.5f}, {x}, kShape) : x;
      const float b = std::ldexp(0.625f, -octaves);
      const ValueId s = little.Constant("s", {4}, {4 * b, 8 * b, b, 16 * b});
      const ValueId sum = little.Add("sum", Binary{BinaryOp::kAdd, {}}, {a, s}, kShape);
      Unary silu{UnaryOp::kSilu};
      silu.input_exponents = {octaves - 2, octaves - 3, octaves, octaves - 4};
      little.Output(little.Add("y", silu, {sum}, kShape));
      const QuantizeResult r =
          QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
      EXPECT_EQ(r.graph.nodes().size(), 3u);
      EXPECT_EQ(Count<QChannelTables>(r.graph), 1);
      EXPECT_LE(OwnError(little, r, "y"), 0.501);
    }
  }
}

// 20 times 20 pairs of exponents would be more tables than a byte can number.
TEST(FunctionChainsTest, ExponentsOfBothEndsAreTwoTables) {
  const Shape shape = {1, 1, 2, 400};
  LittleGraph little(11);
  const ValueId x = little.Input("x", shape, -1, 1);
  Unary first{UnaryOp::kSilu}, last{UnaryOp::kSilu};
  for (int c = 0; c < 400; ++c) {
    first.input_exponents.push_back(c % 20 - 10);
    last.output_exponents.push_back(c / 20 - 10);
  }
  const ValueId a = little.Add("a", first, {x}, shape);
  little.Output(little.Add("y", last, {a}, shape));
  const QuantizeResult r =
      QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
  EXPECT_EQ(Count<QChannelTables>(r.graph), 2);
}

}  // namespace
}  // namespace rshift::test
