// Which nodes one scale of 8 bits would leave with nothing: sums of exponentials up to their
// logarithm, sines of many periods with their arguments.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "quantize/phases.h"
#include "quantize/powers.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

// The logarithm of a sum of exponentials; without a sum they are a function of one value.
TEST(FloatChainsTest, ExponentialsStayFloatUpToTheLogarithmOfTheirSum) {
  for (const bool sums : {false, true}) {
    LittleGraph little;
    const ValueId x = little.Input("x", {2, 6, 4});
    const ValueId a =
        little.Add("a", MatMul{}, {x, little.RandomConstant("w", {4, 4}, -3, 3)}, {2, 6, 4});
    const ValueId e = little.Add("exp", Unary{UnaryOp::kExp}, {a}, {2, 6, 4});
    Reduce sum;
    sum.op = ReduceOp::kSum;
    sum.axes = {1};
    const Shape shape = {2, sums ? 1 : 6, 4};
    const ValueId one = little.Constant("one", {1}, {1});
    const ValueId s = sums ? little.Add("sum", sum, {e}, shape)
                           : little.Add("sum", Binary{BinaryOp::kAdd, {}}, {e, one}, shape);
    const ValueId log = little.Add("log", Unary{UnaryOp::kLog}, {s}, shape);
    little.Output(little.Add("y", MatMul{}, {log, little.RandomConstant("v", {4, 3}, -1, 1)},
                             {2, sums ? 1 : 6, 3}));
    std::vector<bool> expected(5, false);
    if (sums) expected = {false, true, true, true, false};
    EXPECT_EQ(PowerNodes(little.graph()), expected);
  }
}

// log(exp(a) + exp(b)), and exponentials divided by their sum in another form than a Softmax.
TEST(FloatChainsTest, ExponentialsOfTwoTensorsAndThoseOfAnAttention) {
  LittleGraph little;
  const ValueId a = little.Input("a", {2, 6}), b = little.Input("b", {2, 6});
  const ValueId ea = little.Add("ea", Unary{UnaryOp::kExp}, {a}, {2, 6});
  const ValueId eb = little.Add("eb", Unary{UnaryOp::kExp}, {b}, {2, 6});
  const ValueId both = little.Add("both", Binary{BinaryOp::kAdd, {}}, {ea, eb}, {2, 6});
  little.Output(little.Add("log", Unary{UnaryOp::kLog}, {both}, {2, 6}));
  Reduce sum;
  sum.op = ReduceOp::kSum;
  sum.axes = {1};
  const ValueId weighted = little.Add("weighted", Binary{BinaryOp::kMul, {}}, {ea, b}, {2, 6});
  const ValueId above = little.Add("above", sum, {weighted}, {2, 1});
  const ValueId below = little.Add("below", sum, {ea}, {2, 1});
  little.Output(little.Add("pooled", Binary{BinaryOp::kDiv, {}}, {above, below}, {2, 1}));
  // 1 / (1 + exp(b)) is a function of b.
  const ValueId one = little.Constant("one", {1}, {1});
  const ValueId more = little.Add("more", Binary{BinaryOp::kAdd, {}}, {eb, one}, {2, 6});
  little.Output(little.Add("share", Binary{BinaryOp::kDiv, {}}, {one, more}, {2, 6}));
  std::vector<bool> expected(10, true);
  expected[8] = expected[9] = false;
  EXPECT_EQ(PowerNodes(little.graph()), expected);
}

// Fourier features of coordinates: the products in front of sines of many periods.
TEST(FloatChainsTest, ArgumentsOfManyPeriodsStayFloat) {
  for (const float frequency : {2.0f, 100.0f}) {
    LittleGraph little;
    const ValueId x = little.Input("x", {8, 2}, -1, 1);
    const ValueId w = little.RandomConstant("w", {2, 16}, -frequency, frequency);
    const ValueId a = little.Add("a", MatMul{}, {x, w}, {8, 16});
    const ValueId s = little.Add("s", Unary{UnaryOp::kSin}, {a}, {8, 16});
    const ValueId h =
        little.Add("h", MatMul{}, {s, little.RandomConstant("v", {16, 4}, -9, 9)}, {8, 4});
    // Behind a layer there is nothing left to save.
    const ValueId t = little.Add("t", Unary{UnaryOp::kSin}, {h}, {8, 4});
    little.Output(t);
    const auto range = [](float reach) {
      TensorRange made;
      made.low = -reach;
      made.high = made.threshold = reach;
      return made;
    };
    CalibrationTable table;
    table.tensors = {{"a", range(frequency)}, {"h", range(50)}};
    std::vector<bool> expected(4, false);
    if (frequency > kMostPhase) expected = {true, true, false, false};
    EXPECT_EQ(PhaseNodes(little.graph(), table, {}), expected);
    EXPECT_EQ(PhaseNodes(little.graph(), table, {"x"}), std::vector<bool>(4, false));
  }
}

}  // namespace
}  // namespace rshift::test
