// What diagnose measures: histograms, weights, scores, channels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/import.h"
#include "graph/passes/passes.h"
#include "pipeline/check_samples.h"
#include "pipeline/diagnose/bad_weights.h"
#include "pipeline/diagnose/channel_extremes.h"
#include "pipeline/diagnose/scores.h"
#include "pipeline/diagnose/value_shape.h"
#include "pipeline/diagnose/zero_filters.h"
#include "runtime/onednn/float_library.h"
#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::ModelBuilder;

Graph Import(ModelBuilder& model) {
  const std::string bytes = model.Bytes();
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  return ImportOnnxBytes(copy, "test", {});
}

// x[2, 3] -> Gemm with these weights [3, 2] and biases -> y.
Graph Gemm(const std::vector<float>& weights, const std::vector<float>& bias) {
  ModelBuilder model;
  model.Input("x", {2, 3}).Floats("w", {3, 2}, weights).Floats("b", {2}, bias);
  model.Node("Gemm", {"x", "w", "b"}, {"y"}).Output("y");
  return Import(model);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(DiagnoseFacts, BadWeightsAreFoundByOutputChannel) {
  EXPECT_TRUE(FindBadWeights(Gemm({1, 2, 3, 4, 5, 6}, {0, 0})).empty());
  const auto found = FindBadWeights(Gemm({1, 2, 3, kNan, 5, INFINITY}, {0, 0}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tensor, "w");
  EXPECT_EQ(found[0].channel, 1);
  EXPECT_EQ(found[0].channels, 1);
  EXPECT_EQ(found[0].nans, 1);
  EXPECT_EQ(found[0].infinities, 1);
}

TEST(DiagnoseFacts, InfinitiesOfMasksAreNoBadWeights) {
  ModelBuilder model;
  model.Input("x", {1, 2}).Floats("mask", {2}, {0, -INFINITY});
  model.Node("Add", {"x", "mask"}, {"sum"}).Node("Softmax", {"sum"}, {"y"}).Output("y");
  EXPECT_TRUE(FindBadWeights(Import(model)).empty());
}

TEST(DiagnoseFacts, ZeroFiltersAreExactlyZeroWithTheirBias) {
  const auto zero = [](const std::vector<float>& weights, const std::vector<float>& bias) {
    return FindZeroFilters(RunPasses(Gemm(weights, bias)))["y"];
  };
  EXPECT_EQ(zero({1, 0, 2, 0, 3, 0}, {1, 0}), std::vector<int64_t>{1});
  EXPECT_TRUE(zero({1, 0, 2, 0, 3, 0}, {1, 1e-30f}).empty());
  EXPECT_TRUE(zero({1, 0, 2, 1e-30f, 3, 0}, {1, 0}).empty());
}

TEST(DiagnoseFacts, TheBulkLeavesOneInAThousandOut) {
  TensorStatistics statistics;
  std::vector<float> values(1000, 0.5f);
  values[7] = -64;
  Add(statistics, values, "s");
  TensorFacts facts;
  facts.has_range = true;
  facts.range_low = -1;
  facts.range_high = 1;
  DescribeValues(statistics, facts);
  EXPECT_EQ(facts.min, -64);
  EXPECT_NEAR(facts.bulk_peak, 0.5, 0.001);
  EXPECT_NEAR(facts.bulk_rms, 0.5, 0.001);
  EXPECT_DOUBLE_EQ(facts.clipped, 0.001);
  values[8] = 64;
  Add(statistics, values, "t");  // three of two thousand
  DescribeValues(statistics, facts);
  EXPECT_NEAR(facts.bulk_peak, 64, 0.1);
}

TEST(DiagnoseFacts, TheGapIsTheWidestAndKnowsItsSides) {
  TensorStatistics statistics;
  std::vector<float> values;
  values.reserve(100);
  for (int i = 0; i < 90; ++i) values.push_back(static_cast<float>(i) / 90);
  for (int i = 0; i < 10; ++i) values.push_back(10);
  Add(statistics, values, "s");
  TensorFacts facts;
  DescribeValues(statistics, facts);
  EXPECT_NEAR(facts.gap.share, 0.9, 0.01);
  EXPECT_NEAR(facts.gap.smaller_side, 0.1, 1e-9);
  EXPECT_NEAR(facts.gap.larger_width, 1, 0.02);
  EXPECT_NEAR(facts.gap.low, 0.99, 0.01);
  EXPECT_NEAR(facts.gap.high, 10, 0.02);
}

// One sample of [1, 300 boxes, 2 channels], a coordinate and a score: these, and zeros.
std::vector<OutputValues> Boxes(std::vector<float> values, int64_t boxes = 300) {
  values.resize(static_cast<size_t>(2 * boxes));
  return {{.name = "y", .shape = {1, boxes, 2}, .samples = {values}}};
}

TEST(DiagnoseFacts, ScoresAreChannelsFromZeroToOne) {
  const auto floating = Boxes({40, 0.1f, -3, 0.8f, 7, 0.2f});
  const auto found = DescribeScores(Boxes({0, 0, 0, 0.2f, 0, 0.7f}), floating);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 1);  // the coordinate is no score
  EXPECT_NEAR(found[0].median_ratio, 0.7 / 0.8, 1e-6);
  EXPECT_TRUE(DescribeScores(floating, Boxes({40, 0.1f, -3, 0.2f, 7, 0.2f})).empty());  // not sure
}

TEST(DiagnoseFacts, AFewNumbersMayBeFromZeroToOneByChance) {
  const std::vector<float> with_coordinate = {40, 0.1f, -3, 0.8f}, alone = {0.3f, 0.1f, 0, 0.8f};
  EXPECT_TRUE(DescribeScores(Boxes({}, 2), Boxes(with_coordinate, 2)).empty());
  EXPECT_EQ(DescribeScores(Boxes({}, 2), Boxes(alone, 2)).size(), 1u);
}

TEST(DiagnoseFacts, ExtremesByChannelAndSample) {
  RegisterFloatLibrary();
  const Graph graph = RunPasses(Gemm({1, 0, 0, 1, 0, 0}, {0, 10}));
  const SampleList samples({{"a", {{1, 2, 0, -5, 4, 0}}}, {"b", {{3, 1, 0, 0, 0, 9}}}});
  for (const int threads : {1, 2}) {
    const auto found = MeasureExtremes(graph, samples, threads, nullptr);
    const ChannelExtremes& y = found.at("y");
    EXPECT_EQ(y.min, (std::vector<float>{-5, 10}));
    EXPECT_EQ(y.max, (std::vector<float>{3, 14}));
    EXPECT_EQ(y.sample_peaks, (std::vector<float>{14, 11}));
    EXPECT_EQ(found.at("x").sample_peaks, (std::vector<float>{5, 9}));
  }
}

}  // namespace
}  // namespace rshift
