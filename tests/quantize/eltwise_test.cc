#include <gtest/gtest.h>

#include <cmath>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

double AddBound(const QuantizeResult& result, int bits) {
  const auto scale = [&](const char* name) {
    return static_cast<double>(result.graph.value(result.graph.FindValue(name)).quant->scale);
  };
  const double multipliers = bits == 8 ? 510 * std::exp2(-6) : 0.02;  // see NUMERICS.md 5.2
  return 0.51 + multipliers + (scale("a__q") + scale("b__q")) / scale("y");
}

TEST(AddTest, IsWithinTheBoundInBothModes) {
  for (QuantMode mode : kModes) {
    for (int bits : {8, 16}) {
      for (float low : {-1.0f, 0.0f}) {
        LittleGraph little;
        const ValueId a = little.Input("a", {1, 4, 4, 3}, low, 1);
        const ValueId b = little.Input("b", {1, 4, 4, 3}, low, 0.6f);
        little.Output(
            little.Add("y", Binary{BinaryOp::kAdd, {0.0f, INFINITY}}, {a, b}, {1, 4, 4, 3}));
        QuantizeOptions options = Mode(mode);
        options.target.add_multiplier_bits = bits;
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
        EXPECT_EQ(Count<isa::AddFloat>(result.graph), mode == QuantMode::kAsymmetric);
        EXPECT_EQ(Count<isa::Add>(result.graph), mode == QuantMode::kSymmetric);
        EXPECT_LE(WorstError(little, result, "y"), AddBound(result, bits)) << bits << " " << low;
      }
    }
  }
}

// A BatchNorm behind a concatenation: 64 pixels of 3 channels, but 3 weights and one command.
TEST(AddTest, ConstantsPerChannelAreOneDepthwiseConvolution) {
  for (QuantMode mode : kModes) {
    for (Shape shape : {Shape{1, 8, 8, 3}, Shape{2, 5, 3}}) {
      LittleGraph little;
      const ValueId x = little.Input("x", shape);
      const ValueId scale = little.Constant("s", {3}, {0.5f, -2.0f, 1.0f});
      const ValueId shift = little.Constant("b", {1, 3}, {0.25f, 0.5f, -3.0f});
      const ValueId m = little.Add("m", Binary{BinaryOp::kMul, {}}, {scale, x}, shape);
      const ValueId a = little.Add("a", Binary{BinaryOp::kAdd, {}}, {m, shift}, shape);
      little.Output(little.Add("y", Binary{BinaryOp::kSub, {0.0f, 4.0f}}, {shift, a}, shape));
      const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
      int convolutions = 0;
      for (const Node& node : result.graph.nodes()) {
        convolutions += std::holds_alternative<QConv>(node.op);
        EXPECT_FALSE(std::holds_alternative<isa::Add>(node.op) ||
                     std::holds_alternative<isa::AddFloat>(node.op) ||
                     std::holds_alternative<isa::Mul>(node.op));
      }
      EXPECT_EQ(convolutions, 2);
      for (int i = 0; i < result.graph.value_count(); ++i) {
        const Value& value = result.graph.value(ValueId(i));
        EXPECT_TRUE(!value.is_constant() || NumElements(value.shape) == 3) << value.name;
      }
      const auto step = [&](const char* name) {
        return static_cast<double>(result.graph.value(result.graph.FindValue(name)).quant->scale);
      };
      // Half a step of y; of x and a up to one, where the largest integer is cut off.
      const double a_error = step("a") + 2 * step("x__q");
      EXPECT_LE(WorstError(little, result, "y"), 0.52 + a_error / step("y"));
    }
  }
}

TEST(AddTest, TheConfigurationChoosesTheMultipliersBits) {
  LittleGraph little;
  const ValueId a = little.Input("a", {2, 3}), b = little.Input("b", {2, 3});
  little.Output(little.Add("y", Binary{}, {a, b}, {2, 3}));
  QuantizeOptions options;
  EXPECT_GT(
      Only<isa::Add>(QuantizeGraph(little.graph(), little.Calibrate(), options).graph).multiplier,
      127);
  options.config.layers["y"].multiplier_bits = 8;
  EXPECT_LE(
      Only<isa::Add>(QuantizeGraph(little.graph(), little.Calibrate(), options).graph).multiplier,
      127);
}

TEST(AddTest, ARatioBeyondTheMultipliersUsesTheFloatForm) {
  LittleGraph little;
  const ValueId a = little.Input("a", {2, 3}), b = little.Input("b", {2, 3});
  little.Output(little.Add("y", Binary{}, {a, b}, {2, 3}));
  QuantizeOptions options;
  options.target.add_multiplier_bits = 8;
  options.config.layers["y"].threshold = 0.001f;
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
  EXPECT_EQ(Count<isa::AddFloat>(result.graph), 1);
  EXPECT_LE(WorstError(little, result, "y"), 0.51 + 2 / 0.001);
}

TEST(AddTest, TensorsThatBroadcastAreExpandedAndConstantsStayAsTheyAre) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId a = little.Input("a", {1, 4, 4, 3}), b = little.Input("b", {1, 1, 1, 3});
    const ValueId sum = little.Add("s", Binary{}, {a, b}, {1, 4, 4, 3});
    const ValueId c = little.RandomConstant("c", {4, 3}, -1, 1);
    little.Output(little.Add("y", Binary{}, {sum, c}, {1, 4, 4, 3}));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<isa::Add>(result.graph) + Count<isa::AddFloat>(result.graph), 2);
    EXPECT_EQ(Count<Expand>(result.graph), 1);
    EXPECT_EQ(result.graph.value(result.graph.FindValue("c__q")).shape, Shape({1, 1, 4, 3}));
    EXPECT_LE(WorstError(little, result, "y"), 4.0);
  }
}

// A BatchNorm behind a concatenation: three numbers, not one for each of 64 pixels.
TEST(AddTest, NoProfileSpreadsOutAConstant) {
  for (int id = 0; id < kProfileCount; ++id) {
    for (QuantMode mode : kModes) {
      SCOPED_TRACE(Name(static_cast<ProfileId>(id)));
      LittleGraph little;
      const Shape shape = {1, 8, 8, 3};
      const ValueId x = little.Input("x", shape);
      const ValueId scale = little.Constant("s", {3}, {0.5f, -2.0f, 1.0f});
      const ValueId shift = little.Constant("b", {1, 1, 3}, {0.25f, 0.5f, -3.0f});
      const ValueId m = little.Add("m", Binary{BinaryOp::kMul, {}}, {scale, x}, shape);
      little.Output(little.Add("y", Binary{}, {m, shift}, shape));
      QuantizeOptions options = Mode(mode);
      options.profile.id = static_cast<ProfileId>(id);
      const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
      for (int i = 0; i < result.graph.value_count(); ++i) {
        const Value& value = result.graph.value(ValueId(i));
        EXPECT_TRUE(!value.is_constant() || NumElements(value.shape) <= 3) << value.name;
      }
      EXPECT_LE(WorstError(little, result, "y"), 5.0);
    }
  }
}

TEST(ScalarTest, AFunctionOfOneTensorAndANumberIsATable) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("x", {2, 8}, -1, 3);
    const ValueId c = little.Constant("c", {}, {0.3f});
    little.Output(little.Add("y", Binary{BinaryOp::kSub, {}}, {c, x}, {2, 8}));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<QTable>(result.graph), 1);
    EXPECT_LE(WorstError(little, result, "y"), 1.6);
  }
}

TEST(MulTest, IsWithinTheBoundInBothModes) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId a = little.Input("a", {1, 4, 4, 3}, -1, 2), b = little.Input("b", {1, 4, 4, 3});
    little.Output(little.Add("y", Binary{BinaryOp::kMul, {}}, {a, b}, {1, 4, 4, 3}));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    EXPECT_EQ(Count<isa::Mul>(result.graph), 1);
    const double sa = result.graph.value(result.graph.FindValue("a__q")).quant->scale;
    const double sb = result.graph.value(result.graph.FindValue("b__q")).quant->scale;
    const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
    EXPECT_LE(WorstError(little, result, "y"), 0.51 + (sa * 1 + sb * 2 + sa * sb) / sy);
  }
}

TEST(SubTest, IsWithinTheBoundInBothModes) {
  for (QuantMode mode : kModes) {
    for (int bits : {8, 16}) {
      LittleGraph little;
      const ValueId a = little.Input("a", {2, 24}, -1, 2), b = little.Input("b", {2, 24});
      little.Output(little.Add("y", Binary{BinaryOp::kSub, {}}, {a, b}, {2, 24}));
      QuantizeOptions options = Mode(mode);
      options.target.add_multiplier_bits = bits;
      const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
      const isa::Add& sub = Only<isa::Add>(result.graph);
      EXPECT_LT(sub.multiplier2, 0);
      const double sa = result.graph.value(result.graph.FindValue("a__q")).quant->scale;
      const double sb = result.graph.value(result.graph.FindValue("b__q")).quant->scale;
      const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
      const double rounding = 255.0 / static_cast<double>(int64_t{1} << sub.rshift);
      EXPECT_LE(WorstError(little, result, "y"), 0.51 + (sa + sb) / sy + rounding);
    }
  }
}

TEST(SubTest, ARatioBeyondEveryMultiplierKeepsTheSign) {
  LittleGraph little;
  const ValueId a = little.Input("a", {4, 64}), b = little.Input("b", {4, 64});
  little.Output(little.Add("y", Binary{BinaryOp::kSub, {}}, {a, b}, {4, 64}));
  QuantizeOptions options;
  options.config.layers["y"].threshold = 1e-6f;
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
  for (const Tensors& inputs : little.samples()) {
    const Tensors t = Execute(result.graph, inputs);
    for (size_t i = 0; i < t.at("y").data.size(); ++i) {
      const double difference = t.at("a__q").data[i] - t.at("b__q").data[i];
      // Both scales are 1 / 128 to a relative 2^-6: beyond two steps the sign is certain.
      if (difference > 2) {
        EXPECT_EQ(t.at("y").data[i], 127);
      }
      if (difference < -2) {
        EXPECT_EQ(t.at("y").data[i], -128);
      }
    }
  }
}

}  // namespace
}  // namespace rshift::test
