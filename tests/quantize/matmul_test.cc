#include <gtest/gtest.h>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

TEST(MatMulTest, IsWithinTheBoundOfTheFloatProduct) {
  for (QuantMode mode : kModes) {
    for (const Shape& a : {Shape{3, 16}, Shape{2, 3, 16}, Shape{1, 2, 3, 16}}) {
      for (float low : {-1.0f, 0.0f, 0.9f}) {
        LittleGraph little(3);
        const ValueId x = little.Input("x", a, low, 1);
        const ValueId w = little.RandomConstant("w", {16, 5}, -1, 1);
        const ValueId b = little.RandomConstant("b", {5}, -1, 1);
        Shape shape = a;
        shape.back() = 5;
        little.Output(little.Add("y", MatMul{}, {x, w, b}, shape));
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
        EXPECT_EQ(Count<QMatMul>(result.graph), 1);
        const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
        const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
        EXPECT_LE(WorstError(little, result, "y"), 0.51 + 16 * (sx + 1.0 / 254 + sx / 254) / sy);
      }
    }
  }
}

TEST(MatMulTest, ProductsOfTwoActivationsStayFloat) {
  LittleGraph little;
  const ValueId x = little.Input("x", {3, 4});
  const ValueId w = little.Input("w", {4, 5});
  little.Output(little.Add("y", MatMul{}, {x, w}, {3, 5}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), {});
  ASSERT_EQ(result.report.float_nodes.size(), 1u);
  EXPECT_EQ(result.report.float_nodes[0].op, "MatMul");
}

}  // namespace
}  // namespace rshift::test
