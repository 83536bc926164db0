// Max, Min, Div, Pow, Mod, comparisons, Where and PRelu by a table of pairs: what each adds to the
// error of its operands, element by element.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

constexpr double kHalf = 0.5001;  // scales are f32

struct Interval {
  float low, high;
};

// y = op(a, b) of two activations.
QuantizeResult Pair(LittleGraph& little, BinaryOp op, Interval a, Interval b, QuantMode mode,
                    Clamp clamp = {}) {
  const Shape shape = {2, 3, 4, 8};
  const ValueId x = little.Input("a", shape, a.low, a.high);
  const ValueId z = little.Input("b", shape, b.low, b.high);
  little.Output(little.Add("y", Binary{op, clamp}, {x, z}, shape));
  return QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
}

TEST(ExtremumTest, AddsHalfAStepForEachOperandOfAnotherScaleAtMost) {
  for (const QuantMode mode : kModes) {
    for (uint32_t seed = 1; seed <= 30; ++seed) {
      SCOPED_TRACE(seed);
      LittleGraph little(seed);
      const float reach = 0.2f + 0.1f * static_cast<float>(seed);
      const BinaryOp op = seed % 2 == 0 ? BinaryOp::kMax : BinaryOp::kMin;
      const QuantizeResult result = Pair(little, op, {-1, 1}, {-reach, 0.3f * reach}, mode);
      EXPECT_EQ(Count<isa::Extremum>(result.graph), 1);
      EXPECT_LE(OwnError(little, result, "y"), kHalf);
    }
  }
}

TEST(ExtremumTest, OperandsThatNobodyElseReadsTakeTheResultsScale) {
  for (const QuantMode mode : kModes) {
    LittleGraph little;
    const QuantizeResult result = Pair(little, BinaryOp::kMax, {-1, 1}, {-2, 3}, mode);
    EXPECT_EQ(Count<Requantize>(result.graph), 0);
    EXPECT_EQ(OwnError(little, result, "y"), 0);
  }
}

TEST(ExtremumTest, AReluBehindItIsAClamp) {
  LittleGraph little;
  const QuantizeResult result =
      Pair(little, BinaryOp::kMin, {-1, 1}, {-2, 3}, QuantMode::kAsymmetric, {0.0f, 0.5f});
  const isa::Extremum& op = Only<isa::Extremum>(result.graph);
  EXPECT_EQ(op.clamp.lo, result.graph.value(result.graph.FindValue("y")).quant->zero_point);
  EXPECT_LE(OwnError(little, result, "y"), kHalf);
}

TEST(ExtremumTest, AConstantTensorCountsAsTheResultDoes) {
  for (const QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("a", {1, 4, 4, 3});
    const ValueId c = little.Constant("c", {3}, {-0.5f, 0.25f, 0.5f});
    little.Output(little.Add("y", Binary{BinaryOp::kMax, {}}, {c, x}, {1, 4, 4, 3}));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<isa::Extremum>(result.graph), 1);
    EXPECT_LE(OwnError(little, result, "y"), kHalf);
  }
}

TEST(QuotientTest, AddsHalfAStep) {
  for (const QuantMode mode : kModes) {
    for (uint32_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(seed);
      LittleGraph little(seed);
      const float most = std::exp2(static_cast<float>(seed) - 20.0f);
      const Interval divisor = seed % 2 == 0   ? Interval{0.1f * most, most}
                               : seed % 3 == 0 ? Interval{-most, -0.02f * most}
                                               : Interval{-most, most};  // 0 among them
      const QuantizeResult result = Pair(little, BinaryOp::kDiv, {-1, 2}, divisor, mode);
      EXPECT_EQ(Count<QDiv>(result.graph), 1);
      EXPECT_LE(OwnError(little, result, "y"), kHalf);
    }
  }
}

TEST(QuotientTest, ByZeroItSaturatesByTheSignOfTheDividend) {
  LittleGraph little;
  const QuantizeResult result =
      Pair(little, BinaryOp::kDiv, {-1, 1}, {-1, 1}, QuantMode::kSymmetric);
  EXPECT_EQ(Only<QDiv>(result.graph).reciprocals[0], INT32_MAX);
  ASSERT_EQ(result.report.notes.size(), 1u);
  EXPECT_NE(result.report.notes[0].text.find("reaches 0"), std::string::npos);
}

TEST(PairTableTest, PowersAndRemaindersAddHalfAStep) {
  for (const QuantMode mode : kModes) {
    for (const BinaryOp op : {BinaryOp::kPow, BinaryOp::kMod}) {
      for (uint32_t seed = 1; seed <= 5; ++seed) {
        LittleGraph little(seed);
        const QuantizeResult result = Pair(little, op, {0.1f, 3}, {0.5f, 2}, mode);
        EXPECT_EQ(Count<QBinaryTable>(result.graph), 1);
        EXPECT_LE(OwnError(little, result, "y"), kHalf);
      }
    }
  }
}

TEST(PairTableTest, ConstantsOfFewNumbersAreNotRounded) {
  for (const QuantMode mode : kModes) {
    for (const BinaryOp op : {BinaryOp::kDiv, BinaryOp::kPow}) {
      LittleGraph little;
      const ValueId x = little.Input("a", {1, 4, 4, 3}, 0.1f, 2);
      const ValueId c = little.Constant("c", {3}, {0.001f, 3.7f, 100.0f});
      little.Output(little.Add("y", Binary{op, {}}, {x, c}, {1, 4, 4, 3}));
      const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
      EXPECT_LE(OwnError(little, result, "y"), kHalf);
    }
  }
}

TEST(PairTableTest, PReluWithASlopeForEachElement) {
  for (const QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("a", {2, 5, 4});
    const ValueId slopes = little.RandomConstant("s", {5, 4}, -0.3f, 0.8f);
    little.Output(little.Add("y", PRelu{}, {x, slopes}, {2, 5, 4}));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<QBinaryTable>(result.graph), 1);
    EXPECT_LE(OwnError(little, result, "y"), kHalf);
  }
}

// relu(x) is an integer; what compares it, and chooses by that, stays integer.
TEST(WhereTest, ComparisonsAndChoicesOfIntegersAreThoseOfTheNumbersTheyStandFor) {
  for (const QuantMode mode : kModes) {
    for (const BinaryOp op : {BinaryOp::kLess, BinaryOp::kGreaterOrEqual, BinaryOp::kEqual}) {
      for (const bool scalar : {false, true}) {
        LittleGraph little;
        const Shape shape = {1, 4, 4, 3};
        const ValueId a = little.Input("a", shape), b = little.Input("b", shape, -2, 3);
        const ValueId sum = little.Add("s", Binary{}, {a, b}, shape);
        const ValueId other = scalar ? little.Constant("c", {}, {0.25f}) : b;
        const ValueId less = little.AddBool("l", Binary{op, {}}, {sum, other}, shape);
        little.Output(little.Add("y", Where{}, {less, sum, b}, shape));
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
        EXPECT_EQ(Count<Binary>(result.graph), 0);
        EXPECT_EQ(Count<QBinaryTable>(result.graph), scalar ? 0 : 1);
        EXPECT_EQ(Count<Dequantize>(result.graph), 1);  // the output
      }
    }
  }
}

TEST(ArgMaxTest, ReadsTheIntegersThatAreThere) {
  LittleGraph little;
  const ValueId a = little.Input("a", {3, 8}), b = little.Input("b", {3, 8});
  const ValueId sum = little.Add("s", Binary{}, {a, b}, {3, 8});
  little.Output(little.AddIndex("y", ArgMax{.axis = 1}, {sum}, {3, 1}));
  const QuantizeResult result =
      QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
  EXPECT_EQ(Count<Dequantize>(result.graph), 0);
  EXPECT_EQ(result.report.float_nodes.size(), 0u);
}

}  // namespace
}  // namespace rshift::test
