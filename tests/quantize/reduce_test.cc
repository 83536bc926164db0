// Reductions over any axes: what each adds to the error of its operand, element by element.
#include <gtest/gtest.h>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

constexpr double kHalf = 0.5001;

// y of a random shape over random axes, kept or not.
QuantizeResult Random(LittleGraph& little, std::mt19937& random, ReduceOp op, QuantMode mode,
                      int bits = 8) {
  const auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  Shape shape;
  for (int64_t rank = pick(1, 4); rank > 0; --rank) shape.push_back(pick(1, rank == 1 ? 40 : 6));
  const bool keep = pick(0, 1) == 0;
  Reduce reduce{op, {}};
  Shape kept;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool reduced = pick(0, 1) == 0 || (d + 1 == shape.size() && reduce.axes.empty());
    if (reduced) reduce.axes.push_back(static_cast<int64_t>(d));
    if (!reduced) kept.push_back(shape[d]);
    if (reduced && keep) kept.push_back(1);
  }
  const ValueId x = little.Input("x", shape, pick(0, 2) == 0 ? 0.5f : -1.0f, 2);
  little.Output(little.Add("y", reduce, {x}, kept));
  QuantizeOptions options = Mode(mode);
  options.activation_bits = bits;
  return QuantizeGraph(little.graph(), little.Calibrate(), options);
}

// Magnitudes of -32768 are held at 32767.
TEST(ReduceTest, OfSixteenBitsToo) {
  for (const QuantMode mode : kModes) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kL1, ReduceOp::kL2,
                              ReduceOp::kSumSquare, ReduceOp::kMax, ReduceOp::kMin}) {
      for (uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(Cat(static_cast<int>(op), " ", seed));
        LittleGraph little(seed);
        std::mt19937 random(seed);
        const QuantizeResult result = Random(little, random, op, mode, 16);
        EXPECT_EQ(result.report.float_nodes.size(), 0u);
        EXPECT_EQ(result.graph.value(result.graph.FindValue("y")).dtype, DType::kS16);
        EXPECT_LE(OwnError(little, result, "y"), op == ReduceOp::kL1 ? 1.01 : 0.51);
      }
    }
  }
}

TEST(ReduceTest, SumsAreExactAndRoundedOnce) {
  for (const QuantMode mode : kModes) {
    for (const ReduceOp op :
         {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kL1, ReduceOp::kL2, ReduceOp::kSumSquare}) {
      for (uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(Cat(static_cast<int>(op), " ", seed));
        LittleGraph little(seed);
        std::mt19937 random(seed);
        const QuantizeResult result = Random(little, random, op, mode);
        EXPECT_EQ(result.report.float_nodes.size(), 0u);
        EXPECT_LE(OwnError(little, result, "y"), kHalf);
      }
    }
  }
}

TEST(ReduceTest, ExtremesAreBytesOfTheInput) {
  for (const QuantMode mode : kModes) {
    for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
      for (uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(Cat(static_cast<int>(op), " ", seed));
        LittleGraph little(seed);
        std::mt19937 random(seed);
        const QuantizeResult result = Random(little, random, op, mode);
        EXPECT_EQ(result.report.float_nodes.size(), 0u);
        EXPECT_LE(OwnError(little, result, "y"), kHalf);
      }
    }
  }
}

TEST(ReduceTest, WhatHasNoIntegerSumStaysFloat) {
  for (const ReduceOp op : {ReduceOp::kProd, ReduceOp::kLogSum, ReduceOp::kLogSumExp}) {
    LittleGraph little;
    const ValueId x = little.Input("x", {4, 6}, 0.5f, 2);
    little.Output(little.Add("y", Reduce{op, {1}}, {x}, {4}));
    const QuantizeResult result =
        QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kSymmetric));
    ASSERT_EQ(result.report.float_nodes.size(), 1u);
  }
}

}  // namespace
}  // namespace rshift::test
