// Linear and cubic Resize of integers: the error against interpolation in real numbers.
#include <gtest/gtest.h>

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

QuantizeResult Quantized(LittleGraph& little, const Case& c, QuantMode mode, float low) {
  const ValueId x = little.Input("x", c.from, low, 1);
  little.Output(little.Add("y", c.op, {x}, c.to));
  return QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
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
