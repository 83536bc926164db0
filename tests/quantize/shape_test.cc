#include <gtest/gtest.h>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

ValueId Pointwise(LittleGraph& little, const char* name, ValueId x, float gain) {
  const std::string weights = std::string(name) + "_w";
  const ValueId w = little.Constant(weights, {2, 2, 1, 1}, {gain, 0, 0, gain});
  return little.Add(name, Conv{}, {x, w}, {1, 4, 4, 2});
}

TEST(PadTest, TheValueIsQuantizedAndTheRangeHoldsIt) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId c = Pointwise(little, "c", little.Input("x", {1, 4, 4, 2}, 0, 1), 1);
    const Pad pad{PadMode::kConstant, {0, 1, 2, 0}, {0, 0, 1, 0}, -3.0f};
    little.Output(little.Add("y", pad, {c}, {1, 5, 7, 2}));
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    const Value& y = r.graph.value(r.graph.FindValue("y"));
    EXPECT_EQ(y.quant, r.graph.value(r.graph.FindValue("c")).quant);
    EXPECT_EQ(y.dtype, DType::kS8);
    EXPECT_EQ(Only<Pad>(r.graph).value, -128);
    EXPECT_LE(WorstError(little, r, "y"), 2.0);
    EXPECT_EQ(r.report.range_changes[0].rule, "ForwardCalibration(Pad)");
  }
}

TEST(PadTest, MinusInfinitySaturates) {
  LittleGraph little;
  const ValueId c = Pointwise(little, "c", little.Input("x", {1, 4, 4, 2}, -1, 1), 1);
  const Pad pad{PadMode::kConstant, {0, 1, 0, 0}, {0, 0, 0, 0}, -3.4e38f};
  const ValueId p = little.Add("p", pad, {c}, {1, 5, 4, 2});
  little.Output(little.Add("y", MaxPool{{2, 1, 1, 1, 1, 1, 0, 0, 0, 0}}, {p}, {1, 4, 4, 2}));
  CalibrationTable table = little.Calibrate();
  for (auto& [name, range] : table.tensors) {
    if (name == "p") range = {-1, 1, 1, -1, 1, "minmax"};  // what clipping methods make of the pad
  }
  const QuantizeResult r = QuantizeGraph(little.graph(), table, Mode(QuantMode::kSymmetric));
  EXPECT_EQ(Only<Pad>(r.graph).value, -128);
  EXPECT_NEAR(r.graph.value(r.graph.FindValue("y")).quant->scale, 1.0 / 128, 1e-3);
}

TEST(MovementTest, BytesMoveUnchanged) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    ValueId v = Pointwise(little, "c", little.Input("x", {1, 4, 4, 2}), 1);
    v = little.Add("t", Transpose{{0, 3, 1, 2}}, {v}, {1, 2, 4, 4});
    v = little.Add("r", Reshape{}, {v}, {2, 16});
    v = little.Add("y", Slice{{1, 15}, {1, -3}}, {v}, {1, 5});
    little.Output(v);
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_TRUE(r.report.float_nodes.empty());
    EXPECT_EQ(Count<Requantize>(r.graph), 0);
    EXPECT_EQ(Count<Dequantize>(r.graph), 1);
    EXPECT_LE(WorstError(little, r, "y"), 2.0);
  }
}

TEST(ConcatTest, SingleReadersTakeTheOutputsRangeOthersAreRescaled) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("x", {1, 4, 4, 2});
    const ValueId a = Pointwise(little, "a", x, 1), b = Pointwise(little, "b", x, 3);
    const ValueId k = little.RandomConstant("k", {1, 4, 4, 1}, -1, 1);
    little.Output(little.Add("y", Concat{3}, {a, b, k}, {1, 4, 4, 5}));
    little.Output(a);  // a second reader
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    const auto quant = [&](const char* name) {
      return *r.graph.value(r.graph.FindValue(name)).quant;
    };
    EXPECT_EQ(quant("b"), quant("y"));
    EXPECT_FALSE(quant("a") == quant("y"));
    EXPECT_EQ(quant("a__rescaled"), quant("y"));
    EXPECT_EQ(quant("k__q"), quant("y"));
    EXPECT_LE(WorstError(little, r, "y"),
              3.1);  // x's unit is a third of y's; two roundings of a and b
    EXPECT_LE(WorstError(little, r, "a"), 2.0);
  }
}

}  // namespace
}  // namespace rshift::test
