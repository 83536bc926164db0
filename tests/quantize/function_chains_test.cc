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

TEST(FunctionChainsTest, AreOneTableRoundedOnce) {
  for (QuantMode mode : kModes) {
    Chain chain;
    const QuantizeResult r =
        QuantizeGraph(chain.little.graph(), chain.little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<QTable>(r.graph), 1);
    EXPECT_EQ(r.graph.nodes().size(), 3u);  // between Quantize and Dequantize
    EXPECT_LE(OwnError(chain.little, r, "y"), 0.501);
  }
}

TEST(FunctionChainsTest, SixteenBits) {
  Chain chain;
  QuantizeOptions options = Mode(QuantMode::kSymmetric);
  options.activation_bits = 16;
  const QuantizeResult r = QuantizeGraph(chain.little.graph(), chain.little.Calibrate(), options);
  EXPECT_EQ(Count<QTableS16>(r.graph), 1);
  EXPECT_EQ(r.graph.nodes().size(), 3u);
  EXPECT_LE(OwnError(chain.little, r, "y"), 1.01);
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
