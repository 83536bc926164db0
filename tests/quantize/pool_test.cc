#include <gtest/gtest.h>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

TEST(AveragePoolTest, IsWithinOneInputAndOneOutputRounding) {
  const Window window{3, 3, 2, 2, 1, 1, 1, 1, 1, 1};
  for (QuantMode mode : kModes) {
    for (bool count_pad : {false, true}) {
      for (float low : {-1.0f, 0.0f, 1.5f}) {
        LittleGraph little;
        const ValueId x = little.Input("x", {1, 5, 5, 3}, low, 2);
        little.Output(little.Add("y", AveragePool{{window, count_pad}}, {x}, {1, 3, 3, 3}));
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
        EXPECT_TRUE(result.report.float_nodes.empty());
        const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
        const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
        EXPECT_LE(WorstError(little, result, "y"), 0.51 + sx / sy) << low << count_pad;
      }
    }
  }
}

TEST(MaxPoolTest, GivesOutBytesOfItsInput) {
  const Window window{2, 2, 2, 2, 1, 1, 0, 0, 0, 0};
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("x", {1, 4, 4, 3});
    const ValueId w = little.RandomConstant("w", {3, 3, 1, 1}, -1, 1);
    const ValueId c = little.Add("c", Conv{}, {x, w}, {1, 4, 4, 3});
    little.Output(little.Add("y", MaxPool{window}, {c}, {1, 2, 2, 3}));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<Requantize>(result.graph), 0);
    EXPECT_EQ(result.graph.value(result.graph.FindValue("c")).quant,
              result.graph.value(result.graph.FindValue("y")).quant);
    EXPECT_LE(WorstError(little, result, "y"), 3.0);
  }
}

}  // namespace
}  // namespace rshift::test
