#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace rshift::test
