// Linear and cubic Resize of integers: the error against interpolation in real numbers.
#include <gtest/gtest.h>

#include "quantize/ops/ops.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

struct Case {
  Resize op;
  Shape from, to;
};

Case RandomCase(std::mt19937& random, ResizeMode mode, int axes) {
  const auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  Case c;
  c.op.mode = mode;
  c.op.coordinate = static_cast<CoordinateMode>(pick(0, kCoordinateModeCount - 1));
  c.op.cubic_a = pick(0, 1) == 0 ? -0.75f : -0.5f;
  c.op.exclude_outside = mode == ResizeMode::kCubic && pick(0, 2) == 0;
  const auto first = static_cast<size_t>(pick(0, 4 - axes));
  for (size_t d = 0; d < 4; ++d) {
    const bool resized = d >= first && d < first + static_cast<size_t>(axes);
    c.from.push_back(pick(1, 7));
    c.to.push_back(resized ? pick(1, 15) : c.from.back());
    c.op.scales.push_back(static_cast<float>(c.to[d]) / static_cast<float>(c.from[d]));
  }
  return c;
}

QuantizeResult Quantized(LittleGraph& little, const Case& c, QuantMode mode, float low,
                         int bits = 8) {
  const ValueId x = little.Input("x", c.from, low, 1);
  little.Output(little.Add("y", c.op, {x}, c.to));
  QuantizeOptions options = Mode(mode);
  options.activation_bits = bits;
  return QuantizeGraph(little.graph(), little.Calibrate(), options);
}

TEST(ResizeTest, LinearIsWithinItsBoundInEveryCoordinateMode) {
  for (const QuantMode mode : kModes) {
    for (uint32_t seed = 1; seed <= 120; ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937 random(seed);
      LittleGraph little(seed);
      const Case c = RandomCase(random, ResizeMode::kLinear, seed % 2 == 0 ? 1 : 2);
      const QuantizeResult result = Quantized(little, c, mode, seed % 3 == 0 ? 0.0f : -0.7f);
      EXPECT_EQ(Count<QResize>(result.graph), 1);
      EXPECT_EQ(Only<QResize>(result.graph).words.multiplier, 0);  // one range
      EXPECT_LE(OwnError(little, result, "y"), 0.626);
    }
  }
}

TEST(ResizeTest, CubicHasARangeOfItsOwnAndIsWithinItsBound) {
  for (const QuantMode mode : kModes) {
    for (uint32_t seed = 1; seed <= 120; ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937 random(seed);
      LittleGraph little(seed);
      const Case c = RandomCase(random, ResizeMode::kCubic, seed % 2 == 0 ? 1 : 2);
      const QuantizeResult result = Quantized(little, c, mode, seed % 3 == 0 ? 0.0f : -0.7f);
      if (Count<QResize>(result.graph) == 0) continue;  // exclude_outside amplifies too much
      EXPECT_LE(OwnError(little, result, "y"), 1.0);
    }
  }
}

// Coefficients of 15 bits: one unit of 16 bits for each axis, five for cubic ones.
TEST(ResizeTest, SixteenBitsAreWithinTheirBounds) {
  int cubics = 0;
  for (const QuantMode mode : kModes) {
    for (uint32_t seed = 1; seed <= 240; ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937 random(seed);
      LittleGraph little(seed);
      const bool cubic = seed % 2 == 0;
      const int axes = seed % 3 == 0 ? 1 : 2;
      const Case c = RandomCase(random, cubic ? ResizeMode::kCubic : ResizeMode::kLinear, axes);
      const QuantizeResult result = Quantized(little, c, mode, seed % 5 == 0 ? 0.0f : -0.7f, 16);
      if (cubic && Count<QResizeS16>(result.graph) == 0) continue;  // amplifies too much
      EXPECT_EQ(Count<QResizeS16>(result.graph), 1);
      cubics += cubic ? 1 : 0;
      EXPECT_EQ(result.graph.value(result.graph.FindValue("y")).dtype, DType::kS16);
      EXPECT_LE(OwnError(little, result, "y"), cubic ? 6.0 : 0.51 + axes);
    }
  }
  EXPECT_GE(cubics, 180);
}

// Neighbours and coefficients of [1, 2, 3, 1] at twice the size under each way of LiteRT.
TEST(ResizeTest, LiteRtsProfilesHaveItsCoefficients) {
  struct {
    ProfileId profile;
    std::vector<int32_t> rows;  // of the first resized dimension
  } cases[] = {
      {ProfileId::kTfLiteRef, {0, 1024, 0, 0, 0, 768, 1, 256, 0, 256, 1, 768, 1, 1024, 1, 0}},
      {ProfileId::kTfLiteRuy, {0, 1024, 0, 0, 0, 768, 1, 256, 0, 256, 1, 768, 1, 1024, 1, 0}},
      {ProfileId::kTfLiteXnnpack, {0, 2048, 1, 0, 0, 1536, 1, 512, 0, 512, 1, 1536, 1, 2048, 1, 0}},
  };
  for (const auto& each : cases) {
    LittleGraph little(3);
    Case c;
    c.op.mode = ResizeMode::kLinear;
    c.op.coordinate = CoordinateMode::kHalfPixel;
    c.op.scales = {1, 2, 2, 1};
    c.from = {1, 2, 3, 1};
    c.to = {1, 4, 6, 1};
    const ValueId x = little.Input("x", c.from, -1, 1);
    little.Output(little.Add("y", c.op, {x}, c.to));
    QuantizeOptions options = Mode(QuantMode::kAsymmetric);
    options.profile.id = each.profile;
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
    const bool xnnpack = each.profile == ProfileId::kTfLiteXnnpack;
    ASSERT_EQ(Count<QResizeLinear>(result.graph), xnnpack ? 0 : 1);
    const std::vector<int32_t> taps =
        xnnpack ? Only<QResize>(result.graph).taps : Only<QResizeLinear>(result.graph).taps;
    ASSERT_EQ(taps.size(), 4u + 16 + 24);
    EXPECT_EQ(std::vector<int32_t>(taps.begin(), taps.begin() + 4),
              (std::vector<int32_t>{0, 2, 2, 0}));
    EXPECT_EQ(std::vector<int32_t>(taps.begin() + 4, taps.begin() + 20), each.rows);
  }
}

TEST(ResizeTest, WhatLiteRtDoesNotHaveStaysFloatAndSaysWhy) {
  const auto reason = [](const Resize& op, const Shape& from, const Shape& to) {
    LittleGraph little(3);
    const ValueId x = little.Input("x", from, -1, 1);
    little.Output(little.Add("y", op, {x}, to));
    const Profile profile{.id = ProfileId::kTfLiteRef};
    const OpSupport support =
        IntegerSupport(little.graph(), little.graph().nodes().back(), profile);
    EXPECT_EQ(support.kind, OpKind::kFloat);
    return support.reason;
  };
  Resize op;
  op.mode = ResizeMode::kLinear;
  op.scales = {1, 1.9f, 1, 1};
  EXPECT_NE(reason(op, {1, 10, 1, 1}, {1, 18, 1, 1}).find("not the quotient"), std::string::npos);
  op.scales = {1, 2, 1, 1};
  op.coordinate = CoordinateMode::kHalfPixelSymmetric;
  EXPECT_NE(reason(op, {1, 3, 1, 1}, {1, 6, 1, 1}).find("coordinates"), std::string::npos);
  op.coordinate = CoordinateMode::kHalfPixel;
  op.scales = {2, 2, 2, 1};
  EXPECT_NE(reason(op, {1, 3, 1, 1}, {2, 6, 2, 1}).find("two dimensions"), std::string::npos);
  op.mode = ResizeMode::kCubic;
  EXPECT_NE(reason(op, {1, 3, 1, 1}, {2, 6, 2, 1}).find("cubic"), std::string::npos);
}

TEST(ResizeTest, ThreeDimensionsStayFloatAndSayWhy) {
  std::mt19937 random(1);
  LittleGraph little;
  Case c = RandomCase(random, ResizeMode::kLinear, 3);
  c.op.scales = {2, 2, 2, 1};
  c.from = {2, 2, 2, 3};
  c.to = {4, 4, 4, 3};
  const QuantizeResult result = Quantized(little, c, QuantMode::kSymmetric, -1);
  ASSERT_EQ(result.report.float_nodes.size(), 1u);
  EXPECT_EQ(result.report.float_nodes[0].reason, "it interpolates along more than two dimensions");
}

}  // namespace
}  // namespace rshift::test
