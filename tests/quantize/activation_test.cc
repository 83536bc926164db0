#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quantize/ops/function_scales.h"
#include "quantize/profiles/arithmetic.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

// x -> pointwise convolution c -> op y.
// A chip without multipliers of its own below 0: the activation is an operator by itself.
QuantizeOptions Alone(QuantMode mode) {
  QuantizeOptions options = Mode(mode);
  options.target.negative_multipliers = false;
  return options;
}

LittleGraph Behind(Op op, float low, float high, std::vector<float> slope = {}) {
  LittleGraph little(5);
  const ValueId x = little.Input("x", {1, 4, 4, 3}, low, high);
  const ValueId w = little.Constant("w", {3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  const ValueId c = little.Add("c", Conv{}, {x, w}, {1, 4, 4, 3});
  std::vector<ValueId> inputs = {c};
  if (!slope.empty())
    inputs.push_back(little.Constant("slope", {static_cast<int64_t>(slope.size())}, slope));
  little.Output(little.Add("y", std::move(op), inputs, {1, 4, 4, 3}));
  return little;
}

double Scale(const QuantizeResult& r, const char* name) {
  return r.graph.value(r.graph.FindValue(name)).quant->scale;
}

// Three roundings on the way, each in its own unit; slopes are at most 1.
double Bound(const QuantizeResult& r, double slope_error) {
  return 0.51 + slope_error + (Scale(r, "x__q") + Scale(r, "c")) * 1.01 / Scale(r, "y");
}

TEST(LeakyReluTest, IsWithinTheBound) {
  for (QuantMode mode : kModes) {
    for (int bits : {8, 16}) {
      for (float alpha : {0.0f, 0.01f, 0.1f, 1.0f, -0.5f}) {
        for (float low : {-1.0f, -4.0f, 0.0f}) {
          LittleGraph little = Behind(LeakyRelu{alpha}, low, 2);
          QuantizeOptions options = Alone(mode);
          options.target.leaky_multiplier_bits = bits;
          const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), options);
          EXPECT_TRUE(r.report.float_nodes.empty());
          EXPECT_LE(WorstError(little, r, "y"), Bound(r, bits == 8 ? 2 : 0.02))
              << alpha << " " << low;
        }
      }
    }
  }
}

TEST(LeakyReluTest, EqualThresholdsPassPositiveValuesUnchanged) {
  LittleGraph little = Behind(LeakyRelu{0.1f}, -1, 2);
  const QuantizeResult r =
      QuantizeGraph(little.graph(), little.Calibrate(), Alone(QuantMode::kSymmetric));
  EXPECT_EQ(Only<isa::LeakyRelu>(r.graph).positive.multiplier, 0);
  EXPECT_EQ(Scale(r, "c"), Scale(r, "y"));
}

TEST(LeakyReluTest, ALongNegativeSideKeepsItsOwnScale) {
  LittleGraph little = Behind(LeakyRelu{0.1f}, -4, 2);
  const QuantizeResult r =
      QuantizeGraph(little.graph(), little.Calibrate(), Alone(QuantMode::kSymmetric));
  EXPECT_GE(Only<isa::LeakyRelu>(r.graph).positive.multiplier, 1 << 30);
  EXPECT_NEAR(Scale(r, "c") / Scale(r, "y"), 2, 0.1);
}

TEST(PReluTest, IsWithinTheBound) {
  for (QuantMode mode : kModes) {
    for (const auto& slopes :
         {std::vector<float>{0.25f, 0.1f, 0.0f}, {-0.5f, 0.9f, 0.3f}, {0.2f}}) {
      for (float low : {-1.0f, -4.0f}) {
        LittleGraph little = Behind(PRelu{}, low, 2, slopes);
        const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Alone(mode));
        EXPECT_TRUE(r.report.float_nodes.empty());
        EXPECT_EQ(Count<QPRelu>(r.graph), slopes.size() == 3 ? 1 : 0);
        EXPECT_LE(WorstError(little, r, "y"), Bound(r, 2)) << slopes[0] << " " << low;
      }
    }
  }
}

TEST(PReluTest, SlopesOfElementsAreATableOfTwoBytesInTpuAlone) {
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 4, 4, 3});
  const ValueId slope = little.RandomConstant("slope", {4, 4, 1}, 0, 1);
  little.Output(little.Add("y", PRelu{}, {x, slope}, {1, 4, 4, 3}));
  QuantizeOptions options;
  EXPECT_EQ(QuantizeGraph(little.graph(), little.Calibrate(), options).report.float_nodes.size(),
            0u);
  options.profile = {ProfileId::kCaffe2};
  EXPECT_EQ(QuantizeGraph(little.graph(), little.Calibrate(), options).report.float_nodes.size(),
            1u);
}

TEST(ClipTest, AloneItIsARequantizeThatClamps) {
  for (QuantMode mode : kModes) {
    LittleGraph little = Behind(Clip{{0.0f, 1.0f}}, -2, 2);
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Alone(mode));
    EXPECT_EQ(Only<Requantize>(r.graph).words.multiplier,
              0);  // BackwardCalibration made the scales equal
    EXPECT_LE(WorstError(little, r, "y"), Bound(r, 0));
  }
}

TEST(ClipTest, ASecondReaderKeepsTheInputsRange) {
  for (QuantMode mode : kModes) {
    LittleGraph little = Behind(Clip{{0.0f, 1.0f}}, -2, 2);
    little.Output(little.graph().FindValue("c"));
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Alone(mode));
    EXPECT_GE(Only<Requantize>(r.graph).words.multiplier, 1 << 30);
    EXPECT_LE(WorstError(little, r, "c"), 1.6);
    EXPECT_LE(WorstError(little, r, "y"), Bound(r, 0));
  }
}

TEST(UnaryTest, TablesAreTheFunctionOfEveryByte) {
  for (QuantMode mode : kModes) {
    for (UnaryOp op : {UnaryOp::kSigmoid, UnaryOp::kTanh}) {
      LittleGraph little;
      const ValueId x = little.Input("x", {1, 64}, -6, 6);
      little.Output(little.Add("y", Unary{op, 0, 0}, {x}, {1, 64}));
      const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Alone(mode));
      const Value& in = r.graph.value(r.graph.FindValue("x__q"));
      const Value& out = r.graph.value(r.graph.FindValue("y"));
      const int32_t hi = out.dtype == DType::kU8 ? 255 : 127;
      for (int q = -128; q <= 127; ++q) {
        const double real = in.quant->scale * static_cast<double>(q - in.quant->zero_point);
        const double f = op == UnaryOp::kTanh ? std::tanh(real) : 1 / (1 + std::exp(-real));
        const double exact = f / out.quant->scale + out.quant->zero_point;
        const uint8_t byte = Only<QTable>(r.graph).entries[static_cast<uint8_t>(q)];
        const int32_t y = out.dtype == DType::kU8 ? byte : static_cast<int8_t>(byte);
        EXPECT_NEAR(y, std::fmin(std::fmax(exact, hi - 255.0), hi), 0.5001) << q;
      }
    }
  }
}

// Each channel has the table of a tensor with that channel's scales.
TEST(UnaryTest, ChannelsWithScalesOfTheirOwnHaveTablesOfTheirOwn) {
  for (QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("x", {1, 64, 4}, -6, 6);
    Unary silu(UnaryOp::kSilu);
    silu.input_exponents = {0, 2, -3, 2};
    silu.output_exponents = {1, -2, 0, -2};
    little.Output(little.Add("y", silu, {x}, {1, 64, 4}));
    const QuantizeResult r = QuantizeGraph(little.graph(), little.Calibrate(), Alone(mode));
    const auto& tables = Only<QChannelTables>(r.graph);
    EXPECT_EQ(tables.table_of_channel, (std::vector<uint8_t>{0, 1, 2, 1}));
    ASSERT_EQ(tables.entries.size(), 3 * 256);
    const Value& in = r.graph.value(r.graph.FindValue("x__q"));
    const Value& out = r.graph.value(r.graph.FindValue("y"));
    const int32_t hi = out.dtype == DType::kU8 ? 255 : 127;
    for (const size_t c : {0, 1, 2}) {
      for (int q = -128; q <= 127; ++q) {
        const double step = in.quant->scale * static_cast<double>(q - in.quant->zero_point);
        const double real = std::ldexp(step, silu.input_exponents[c]);
        const double f = std::ldexp(real / (1 + std::exp(-real)), -silu.output_exponents[c]);
        const double exact = f / out.quant->scale + out.quant->zero_point;
        const uint8_t byte = tables.entries[256 * c + static_cast<uint8_t>(q)];
        const int32_t y = out.dtype == DType::kU8 ? byte : static_cast<int8_t>(byte);
        EXPECT_NEAR(y, std::fmin(std::fmax(exact, hi - 255.0), hi), 0.5001) << c << " " << q;
      }
    }
  }
}

// --- the byte between a product and a function: quantize/NUMERICS.md section 10.1

HeldFunction Held(UnaryOp op, double quantum, double lowest = -1e9, double highest = 1e9) {
  return {[=](double x) { return std::clamp(Evaluate({op}, x) / quantum, lowest, highest); }};
}

TEST(FunctionScalesTest, SiluHasFewIntegersBelowZeroAndNoneWhereItIsFlat) {
  const std::vector<HeldFunction> silu = {Held(UnaryOp::kSilu, 0.04)};
  const FunctionScales scales = ChooseFunctionScales(silu, -20, 10, -128);
  EXPECT_GT(scales.zero_point, -128);
  EXPECT_LT(scales.zero_point, -128 + 100);  // of 170 by the ranges
  EXPECT_NEAR(scales.positive * static_cast<float>(127 - scales.zero_point), 10, 0.2);
  const float low = scales.negative * static_cast<float>(scales.zero_point + 128);
  EXPECT_GT(low, 2);
  EXPECT_LT(low, 12);
  EXPECT_LT(scales.error, FunctionError(silu, -20, 10, 30.0 / 255) / 2);
}

TEST(FunctionScalesTest, SigmoidEndsWhereItIsFlatOnBothSides) {
  const FunctionScales scales =
      ChooseFunctionScales({Held(UnaryOp::kSigmoid, 1.0 / 255)}, -40, 40, 0);
  EXPECT_NEAR(scales.zero_point, 127.5, 1);
  EXPECT_NEAR(scales.positive, scales.negative, 0.02);
  EXPECT_LT(scales.positive * 128, 10);
}

TEST(FunctionScalesTest, NothingLiesBeyondWhatTheResultHolds) {
  // y = x up to 2, where it is held: no integers are spent on more.
  const FunctionScales scales =
      ChooseFunctionScales({Held(UnaryOp::kElu, 0.02, -50, 100)}, 0, 8, -128);
  EXPECT_EQ(scales.zero_point, -128);
  EXPECT_NEAR(scales.positive * 255, 2, 0.1);
  EXPECT_EQ(scales.positive, scales.negative);  // there are none below
}

// The mean square of what y is off by, where its integers do not saturate, in units of its scale.
double MeanSquare(const LittleGraph& little, const QuantizeResult& r) {
  const Value& y = r.graph.value(r.graph.FindValue("y"));
  const IntType type{y.dtype, *y.quant};
  double sum = 0, count = 0;
  for (const Tensors& inputs : little.samples()) {
    const Tensor wanted = Execute(little.graph(), inputs).at("y");
    const Tensor found = Execute(r.graph, inputs).at("y");
    for (size_t i = 0; i < wanted.data.size(); ++i) {
      const double held =
          std::clamp(wanted.data[i], type.RealOf(type.qmin()), type.RealOf(type.qmax()));
      const double off = type.RealOf(static_cast<int32_t>(found.data[i])) - held;
      sum += off * off / type.quant.scale / type.quant.scale;
      count += 1;
    }
  }
  return sum / count;
}

// x -> c, in which the grid of x is lost -> f.
LittleGraph BehindProducts(Unary op, float reach) {
  LittleGraph little(6);
  const ValueId x = little.Input("x", {1, 8, 8, 5}, -reach, reach);
  const ValueId w = little.RandomConstant("w", {3, 5, 3, 3}, -0.3f, 0.3f);
  Conv conv;
  conv.window.kernel_h = conv.window.kernel_w = 3;
  const ValueId c = little.Add("c", conv, {x, w}, {1, 6, 6, 3});
  little.Output(little.Add("y", std::move(op), {c}, {1, 6, 6, 3}));
  return little;
}

TEST(FunctionScalesTest, AreThoseOfAByteBetweenAProductAndAFunction) {
  for (const QuantMode mode : kModes) {
    for (const UnaryOp op : {UnaryOp::kSilu, UnaryOp::kHardSwish, UnaryOp::kSigmoid}) {
      SCOPED_TRACE(::testing::Message()
                   << static_cast<int>(op) << " mode " << static_cast<int>(mode));
      LittleGraph little = BehindProducts(Unary(op), 6);
      const CalibrationTable table = little.Calibrate();
      const QuantizeResult r = QuantizeGraph(little.graph(), table, Mode(mode));
      const QuantizeResult alone = QuantizeGraph(little.graph(), table, Alone(mode));
      ASSERT_EQ(Only<QConv>(r.graph).negative.size(), 3u);
      EXPECT_TRUE(Only<QConv>(alone.graph).negative.empty());
      EXPECT_TRUE(r.graph.FindValue("c__code").valid());
      EXPECT_TRUE(alone.graph.FindValue("c").valid());
      // The result's own rounding is the same; of symmetric HardSwish it is most of the error.
      const double most = mode == QuantMode::kAsymmetric ? 0.9 : 1.05;
      EXPECT_LT(MeanSquare(little, r), most * MeanSquare(little, alone));
    }
  }
}

TEST(FunctionScalesTest, AChannelHasThoseOfItsTable) {
  for (const QuantMode mode : kModes) {
    Unary silu(UnaryOp::kSilu);
    silu.input_exponents = {0, 2, -3};
    silu.output_exponents = {1, -2, 0};
    LittleGraph little = BehindProducts(silu, 3);
    const CalibrationTable table = little.Calibrate();
    const QuantizeResult r = QuantizeGraph(little.graph(), table, Mode(mode));
    ASSERT_EQ(Only<QConv>(r.graph).negative.size(), 3u);
    EXPECT_EQ(Only<QChannelTables>(r.graph).entries.size(), 3u * 256);
    EXPECT_LT(MeanSquare(little, r),
              MeanSquare(little, QuantizeGraph(little.graph(), table, Alone(mode))));
  }
}

TEST(FunctionScalesTest, AreNotWhereTheByteIsAnOutputOrItsRangeIsGiven) {
  const auto has = [](LittleGraph little, QuantizeOptions options) {
    const CalibrationTable table = little.Calibrate();
    return !Only<QConv>(QuantizeGraph(little.graph(), table, options).graph).negative.empty();
  };
  const auto silu = [] { return Behind(Unary(UnaryOp::kSilu), -9, 8); };
  const QuantizeOptions options = Mode(QuantMode::kAsymmetric);
  EXPECT_TRUE(has(silu(), options));
  LittleGraph read_twice = silu();
  read_twice.Output(read_twice.graph().FindValue("c"));
  EXPECT_FALSE(has(std::move(read_twice), options));
  QuantizeOptions given = options;
  given.config.layers["c_node"].low = -9.0f;
  given.config.layers["c_node"].high = 8.0f;
  EXPECT_FALSE(has(silu(), given));
}

}  // namespace
}  // namespace rshift::test
