#include "calibrate/range_effect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "calibrate/calibrate.h"

namespace rshift {
namespace {

constexpr unsigned kSeed = 17;

// The table of one tensor, described, and what it was made from.
struct Described {
  std::vector<float> values;
  TensorRange range;
};

Described Describe(std::vector<float> values, const MethodOptions& method) {
  StatisticsFile file;
  file.tensors.emplace_back();
  file.tensors[0].name = "t";
  Add(file.tensors[0], values, "sample");
  CalibrationTable table = DeriveTable(file, method);
  DescribeRanges(file, {&table, 1});
  return {std::move(values), table.tensors[0].second};
}

// As NUMERICS.md quantizes activations, value by value.
double MeasuredDb(const std::vector<float>& values, double scale, double zero, double least,
                  double greatest) {
  double signal = 0, error = 0;
  for (const double x : values) {
    const double q = std::clamp(std::nearbyint(x / scale) + zero, least, greatest);
    signal += x * x;
    error += (x - (q - zero) * scale) * (x - (q - zero) * scale);
  }
  return 10 * std::log10(signal / error);
}

double ShareBeyond(const std::vector<float>& values, double low, double high) {
  const auto beyond =
      std::count_if(values.begin(), values.end(), [&](float x) { return x < low || x > high; });
  return static_cast<double>(beyond) / static_cast<double>(values.size());
}

void ExpectMeasured(const Described& found) {
  const TensorRange& range = found.range;
  ASSERT_TRUE(range.symmetric && range.asymmetric);
  const bool is_signed = range.min < 0;
  const double threshold = range.threshold;
  EXPECT_NEAR(range.symmetric->sqnr_db,
              MeasuredDb(found.values, threshold / (is_signed ? 128 : 255), 0, is_signed ? -128 : 0,
                         is_signed ? 127 : 255),
              0.2);
  EXPECT_NEAR(range.symmetric->clipped,
              ShareBeyond(found.values, is_signed ? -threshold : 0, threshold), 2e-4);
  const double low = std::min(range.low, 0.0f), high = std::max(range.high, 0.0f);
  const double scale = (high - low) / 255;
  EXPECT_NEAR(range.asymmetric->sqnr_db,
              MeasuredDb(found.values, scale, std::nearbyint(-low / scale), 0, 255), 0.2);
  EXPECT_NEAR(range.asymmetric->clipped, ShareBeyond(found.values, low, high), 2e-4);
}

TEST(RangeEffectTest, IsWhatQuantizingTheValuesGives) {
  std::mt19937 random(kSeed);
  std::normal_distribution<float> normal(0.3f, 2);
  std::student_t_distribution<float> tails(4);
  std::vector<float> a(60000), b(60000), relu(60000);
  for (float& x : a) x = normal(random);
  for (float& x : b) x = tails(random);
  for (size_t i = 0; i < relu.size(); ++i) relu[i] = std::max(0.0f, b[i]);
  for (const Method method : AllMethods()) {
    SCOPED_TRACE(Name(method));
    for (const auto& values : {a, b, relu}) ExpectMeasured(Describe(values, {method, 99.9}));
  }
}

TEST(RangeEffectTest, AWholeRangeClipsNothing) {
  const Described found = Describe({-1.0003f, 0.5f, 3.7001f}, {Method::kMinMax, 99.99});
  EXPECT_EQ(found.range.symmetric->clipped, 0);
  EXPECT_EQ(found.range.asymmetric->clipped, 0);
  EXPECT_EQ(found.range.reason, "the whole observed range");
}

TEST(RangeEffectTest, ZerosLoseNothing) {
  const Described found = Describe(std::vector<float>(9, 0.0f), {Method::kKl, 99.99});
  EXPECT_EQ(found.range.symmetric->sqnr_db, 200);
  EXPECT_EQ(found.range.asymmetric->clipped, 0);
  EXPECT_EQ(found.range.reason, "all values are zero");
}

TEST(RangeEffectTest, ANarrowedRangeSaysBywhat) {
  std::vector<float> values(1000, 1.0f);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.001f * static_cast<float>(i);
  values[7] = 500;
  const Described found = Describe(values, {Method::kPercentile, 99});
  EXPECT_EQ(found.range.reason, "holds the given share of the values");
  EXPECT_NEAR(found.range.symmetric->clipped, 0.01, 2e-3);
  EXPECT_LT(found.range.symmetric->sqnr_db, 1);  // the one large value is most of the signal
}

TEST(RangeEffectTest, AReasonThatIsThereStays) {
  StatisticsFile file;
  file.tensors.emplace_back();
  Add(file.tensors[0], std::vector<float>{-1, 2}, "sample");
  CalibrationTable table = DeriveTable(file, {});
  table.tensors[0].second.reason = "given";
  DescribeRanges(file, {&table, 1});
  EXPECT_EQ(table.tensors[0].second.reason, "given");
}

}  // namespace
}  // namespace rshift
