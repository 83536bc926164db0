#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/dump.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

struct Case {
  const char* name;
  Window window;
  int64_t channels_in, channels_out, groups;
  float input_low, input_high;
  Clamp clamp;
};

const Clamp kNone, kRelu{0.0f, INFINITY}, kRelu6{0.0f, 6.0f};
const Window kPointwise{};
const Window kSame{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
const Window kUneven{3, 2, 2, 1, 1, 1, 0, 1, 1, 0};
const Window kDilated{3, 3, 1, 1, 2, 2, 2, 2, 2, 2};
const Case kCases[] = {
    {"pointwise", kPointwise, 8, 6, 1, -1, 1, kNone},
    {"same padding", kSame, 3, 5, 1, -2, 1, kNone},
    {"input never negative", kSame, 3, 5, 1, 0, 3, kNone},
    {"input with a far zero", kSame, 3, 5, 1, 2, 3, kRelu},
    {"uneven window and pads", kUneven, 4, 4, 2, -1, 1, kRelu},
    {"dilated", kDilated, 2, 4, 1, -1, 1, kRelu6},
    {"depthwise", kSame, 6, 6, 6, -1, 4, kNone},
    {"depthwise with a multiplier", kSame, 4, 12, 4, -1, 4, kNone},
};

// Half a unit for the output's rounding, and what the roundings of inputs, weights and bias amount
// to: |x| <= bound, |dx| <= Sx, |w| <= 1, |dw| <= 1 / 254, bias dx * dw.
double Bound(const Case& c, double sx, double sy) {
  const double taps =
      static_cast<double>(c.window.kernel_h * c.window.kernel_w * c.channels_in / c.groups);
  const double x = std::max(std::fabs(c.input_low), std::fabs(c.input_high));
  return 0.51 + taps * (sx * 1.0 + x / 254 + sx / 254) / sy;
}

// Tensor `name`, of the shape that is returned in *shape.
ValueId AddConv(LittleGraph* little, const Case& c, const char* name, const Clamp& clamp,
                Shape* shape) {
  const ValueId x = little->Input("x", {1, 6, 5, c.channels_in}, c.input_low, c.input_high);
  const ValueId w = little->RandomConstant(
      "w", {c.channels_out, c.channels_in / c.groups, c.window.kernel_h, c.window.kernel_w}, -1, 1);
  const ValueId b = little->RandomConstant("b", {c.channels_out}, -1, 1);
  *shape = ConvShape({1, 6, 5, c.channels_in}, c.window, c.channels_out);
  return little->Add(name, Conv{c.window, c.groups, clamp}, {x, w, b}, *shape);
}

LittleGraph Build(const Case& c) {
  LittleGraph little(7);
  Shape shape;
  little.Output(AddConv(&little, c, "y", c.clamp, &shape));
  return little;
}

// A slope behind the convolution is its own factor below 0: nothing is rounded between them.
LittleGraph BuildWithSlope(const Case& c, const std::vector<float>& slopes) {
  LittleGraph little(7);
  Shape shape;
  const ValueId y = AddConv(&little, c, "c", {}, &shape);
  if (slopes.size() == 1) {
    little.Output(little.Add("y", LeakyRelu{slopes[0]}, {y}, shape));
    return little;
  }
  const ValueId slope = little.Constant("slope", {c.channels_out}, slopes);
  little.Output(little.Add("y", PRelu{}, {y, slope}, shape));
  return little;
}

std::vector<float> SlopesOfChannels(int64_t channels) {
  std::vector<float> slopes;
  for (int64_t i = 0; i < channels; ++i) slopes.push_back(0.3f * static_cast<float>(i));
  return slopes;
}

TEST(ConvTest, ASlopeBelowZeroIsPartOfItWithinTheSameBound) {
  for (const Case& c : kCases) {
    if (c.clamp.active()) continue;
    for (QuantMode mode : kModes) {
      for (const std::vector<float>& slopes :
           {std::vector<float>{0.0f}, {0.1f}, {2.5f}, SlopesOfChannels(c.channels_out)}) {
        SCOPED_TRACE(::testing::Message()
                     << c.name << " mode " << static_cast<int>(mode) << " slope " << slopes.back());
        LittleGraph little = BuildWithSlope(c, slopes);
        const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
        EXPECT_EQ(Count<isa::LeakyRelu>(r.graph) + Count<QPRelu>(r.graph), 0);
        const auto& conv = Only<QConv>(r.graph);
        ASSERT_EQ(conv.negative.size(), conv.channels.size());
        const double largest = std::max(1.0f, *std::max_element(slopes.begin(), slopes.end()));
        const double sx = r.graph.value(r.graph.FindValue("x__q")).quant->scale;
        const double sy = r.graph.value(r.graph.FindValue("y")).quant->scale;
        EXPECT_LE(WorstError(little, r, "y"), largest * Bound(c, sx, sy));
      }
    }
  }
}

TEST(ConvTest, ASlopeStaysByItselfWhereItIsNoFactorBelowZero) {
  const Case& c = kCases[0];
  const auto fused = [&](LittleGraph little, QuantizeOptions options) {
    const CalibrationTable table = little.Calibrate();
    return !Only<QConv>(QuantizeGraph(little.graph(), table, options).graph).negative.empty();
  };
  QuantizeOptions options = Mode(QuantMode::kSymmetric);
  EXPECT_TRUE(fused(BuildWithSlope(c, {0.1f}), options));
  EXPECT_FALSE(fused(BuildWithSlope(c, {-0.1f}), options));  // not monotonic
  for (const ProfileId profile : {ProfileId::kTfLiteRef, ProfileId::kOnnxRuntime}) {
    options.profile = {profile};
    EXPECT_FALSE(fused(BuildWithSlope(c, {0.1f}), options)) << Name(profile);
  }
  options = Mode(QuantMode::kSymmetric);
  options.target.negative_multipliers = false;
  EXPECT_FALSE(fused(BuildWithSlope(c, {0.1f}), options));
  LittleGraph read_twice = BuildWithSlope(c, {0.1f});
  read_twice.Output(read_twice.graph().FindValue("c"));
  EXPECT_FALSE(fused(std::move(read_twice), Mode(QuantMode::kSymmetric)));
}

TEST(ConvTest, IsWithinTheBoundOfTheFloatConvolution) {
  for (const Case& c : kCases) {
    for (QuantMode mode : kModes) {
      for (bool per_channel : {true, false}) {
        LittleGraph little = Build(c);
        QuantizeOptions options = Mode(mode);
        options.target.per_channel_weights = per_channel;
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
        EXPECT_TRUE(result.report.float_nodes.empty()) << c.name;
        const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
        const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
        const double worst = WorstError(little, result, "y");
        EXPECT_LE(worst, Bound(c, sx, sy)) << c.name << " mode " << static_cast<int>(mode);
        EXPECT_LE(worst, 12) << c.name << ": far above what random roundings give";
      }
    }
  }
}

TEST(ConvTest, TheZeroPointIsFoldedIntoTheBias) {
  // x in [2, 3] has zero point -128 and scale 3 / 255; w = 1 -> q_w = 127: bias = 0 + 128 * 127.
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 2, 2, 1}, 2, 3);
  const ValueId w = little.Constant("w", {1, 1, 1, 1}, {1.0f});
  little.Output(little.Add("y", Conv{}, {x, w}, {1, 2, 2, 1}));
  const QuantizeResult result =
      QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kAsymmetric));
  EXPECT_EQ(Only<QConv>(result.graph).channels[0].bias, 128 * 127);
}

TEST(ConvTest, AFusedReluClampsAtTheOutputsZeroPoint) {
  for (QuantMode mode : kModes) {
    LittleGraph little = Build(kCases[5]);
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
    const QConv& conv = Only<QConv>(result.graph);
    const Value& y = result.graph.value(result.graph.FindValue("y"));
    EXPECT_EQ(conv.clamp.lo, y.quant->zero_point);
    EXPECT_EQ(y.dtype, mode == QuantMode::kSymmetric ? DType::kU8 : DType::kS8);
  }
}

TEST(ConvTest, PerChannelScalesServeUnequalChannels) {
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 3, 3, 1});
  const ValueId w = little.Constant("w", {2, 1, 1, 1}, {100.0f, 0.01f});
  little.Output(little.Add("y", Conv{}, {x, w}, {1, 3, 3, 2}));
  QuantizeOptions options;
  const QuantizeResult channels = QuantizeGraph(little.graph(), little.Calibrate(), options);
  options.config.layers["y_node"].per_channel = false;
  const QuantizeResult tensor = QuantizeGraph(little.graph(), little.Calibrate(), options);
  const auto weights = [](const QuantizeResult& r) {
    return r.graph.value(r.graph.FindValue("w__q")).constant->As<int8_t>();
  };
  EXPECT_EQ(weights(channels)[0], 127);
  EXPECT_EQ(weights(channels)[1], 127);
  EXPECT_EQ(weights(tensor)[0], 127);
  EXPECT_EQ(weights(tensor)[1], 0);
}

TEST(ConvTest, DumpsShowTheScalesOfTheWeightsChannels) {
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 3, 3, 1});
  const ValueId w = little.Constant("w", {2, 1, 1, 1}, {127.0f, 0.0127f});
  little.Output(little.Add("y", Conv{}, {x, w}, {1, 3, 3, 2}));
  QuantizeOptions options;
  const auto dump = [&] {
    return DumpGraph(QuantizeGraph(little.graph(), little.Calibrate(), options).graph);
  };
  EXPECT_NE(dump().find("const w__q: s8[2x1x1x1] axis=0 scales=[1,0.0001] #"), std::string::npos)
      << dump();
  options.target.per_channel_weights = false;
  EXPECT_NE(dump().find("const w__q: s8[2x1x1x1] scale=1 #"), std::string::npos) << dump();
}

TEST(ConvTest, ComputedWeightsStayFloat) {
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 3, 3, 1});
  const ValueId w = little.Input("w", {2, 1, 1, 1});
  little.Output(little.Add("y", Conv{}, {x, w}, {1, 3, 3, 2}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), {});
  ASSERT_EQ(result.report.float_nodes.size(), 1u);
  EXPECT_EQ(result.report.float_nodes[0].node, "y_node");
  EXPECT_EQ(result.report.float_nodes[0].reason, "its weights are not constant");
}

}  // namespace
}  // namespace rshift::test
