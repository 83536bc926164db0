#include "calibrate/threshold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "calibrate/calibrate.h"
#include "calibrate/divergence.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kSeed = 5;
constexpr int kCount = 200000;
const MethodOptions kKl{Method::kKl, 99.99};
const MethodOptions kMinMax{Method::kMinMax, 99.99};
constexpr Method kAllMethods[] = {
#define RSHIFT_METHOD(name, text, criterion) Method::k##name,
#include "calibrate/methods.def"
};

std::vector<float> Gauss() {
  std::mt19937 random(kSeed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(kCount);
  for (float& v : values) v = normal(random);
  return values;
}

std::vector<float> Laplace() {
  std::mt19937 random(kSeed);
  std::exponential_distribution<float> exponential(1);
  std::vector<float> values(kCount);
  for (float& v : values) v = (random() % 2 == 0 ? 1.0f : -1.0f) * exponential(random);
  return values;
}

std::vector<float> Relu(std::vector<float> values) {
  for (float& v : values) v = std::max(v, 0.0f);
  return values;
}

TensorStatistics Statistics(const std::vector<float>& values) {
  TensorStatistics statistics;
  statistics.name = "t";
  Add(statistics, values, "s");
  return statistics;
}

// Mean squared error of a real quantizer with integers lo..hi.
double Error(const std::vector<float>& values, double scale, int lo, int hi, int zero = 0) {
  double sum = 0;
  for (const float v : values) {
    const double q = std::clamp(std::nearbyint(v / scale) + zero, static_cast<double>(lo),
                                static_cast<double>(hi));
    sum += std::pow((q - zero) * scale - v, 2);
  }
  return sum / static_cast<double>(values.size());
}

double SymmetricError(const std::vector<float>& values, const TensorRange& range) {
  return range.min < 0 ? Error(values, range.threshold / 128.0, -128, 127)
                       : Error(values, range.threshold / 255.0, 0, 255);
}

double AsymmetricError(const std::vector<float>& values, const TensorRange& range) {
  const double low = std::min(0.0f, range.low), high = std::max(0.0f, range.high),
               scale = (high - low) / 255;
  return Error(values, scale, 0, 255, static_cast<int>(std::nearbyint(-low / scale)));
}

TEST(ThresholdTest, MinMaxIsWhatWasObserved) {
  const TensorRange range = DeriveRange(Statistics({-3, 1, 2}), kMinMax);
  EXPECT_EQ(range.threshold, 3);
  EXPECT_EQ(range.low, -3);
  EXPECT_EQ(range.high, 2);
  EXPECT_EQ(range.method, "minmax");
}

TEST(ThresholdTest, ConstantZeroAndUnseenTensorsGiveZeros) {
  for (const Method method : kAllMethods) {
    for (const TensorStatistics& s : {Statistics({0, 0, -0.0f}), Statistics({})}) {
      const TensorRange range = DeriveRange(s, {method, 99});
      EXPECT_EQ(range.threshold, 0);
      EXPECT_EQ(range.low, 0);
      EXPECT_EQ(range.high, 0);
    }
  }
}

TEST(ThresholdTest, ConstantsKeepTheirValue) {
  for (const Method method : kAllMethods) {
    for (const float v : {5.0f, -5.0f, 1e-30f, 3e38f}) {
      const TensorRange range = DeriveRange(Statistics({v, v, v}), {method, 99});
      EXPECT_EQ(range.threshold, std::abs(v));
      EXPECT_EQ(range.low, v);
      EXPECT_EQ(range.high, v);
    }
  }
}

TEST(ThresholdTest, PercentileOfAKnownDistribution) {
  const TensorRange range = DeriveRange(Statistics(Gauss()), {Method::kPercentile, 99});
  EXPECT_NEAR(range.threshold, 2.576, 0.03);  // 99 % of |x|
  EXPECT_NEAR(range.low, -2.576, 0.05);       // half a percent each side
  EXPECT_NEAR(range.high, 2.576, 0.05);
  const TensorRange relu = DeriveRange(Statistics(Relu(Gauss())), {Method::kPercentile, 99});
  EXPECT_NEAR(relu.high, 2.326, 0.03);  // one-sided: all of it above
  EXPECT_EQ(relu.low, 0);
  const TensorRange all = DeriveRange(Statistics(Gauss()), {Method::kPercentile, 100});
  EXPECT_EQ(all.low, all.min);
  EXPECT_EQ(all.high, all.max);
}

TEST(ThresholdTest, PercentileOfASparseTensorIsNotZero) {
  std::vector<float> values(100000, 0.0f);
  values[7] = 4;
  const TensorRange range = DeriveRange(Statistics(values), {Method::kPercentile, 99});
  EXPECT_EQ(range.threshold, 4);
  EXPECT_EQ(range.high, 4);
}

TEST(ThresholdTest, KlIsNeverWorseThanNoClipping) {
  std::vector<float> outlier = Gauss();
  outlier[3] = 60;
  std::vector<float> shifted = Laplace();
  for (float& v : shifted) v = v > 0 ? v : v / 8;
  std::vector<float> peak(kCount, 1e-5f);  // nearly all is close to zero, what matters is far away
  for (size_t i = 0; i < peak.size(); i += 1000) peak[i] = 1.0f + static_cast<float>(i) / kCount;
  for (const auto& values :
       {Gauss(), Laplace(), Relu(Gauss()), Relu(Laplace()), outlier, shifted, peak}) {
    const TensorStatistics statistics = Statistics(values);
    const TensorRange kl = DeriveRange(statistics, kKl), minmax = DeriveRange(statistics, kMinMax);
    EXPECT_LE(kl.threshold, minmax.threshold);
    EXPECT_GT(kl.threshold, 0);
    EXPECT_GE(kl.low, minmax.low);
    EXPECT_LE(kl.high, minmax.high);
    EXPECT_LE(SymmetricError(values, kl), SymmetricError(values, minmax) * 1.02);
    EXPECT_LE(AsymmetricError(values, kl), AsymmetricError(values, minmax) * 1.02);
    int64_t inside = 0, nonzero = 0;
    for (const float v : values) {
      nonzero += v != 0;
      inside += v != 0 && std::abs(v) <= kl.threshold * 1.001f;
    }
    EXPECT_GE(static_cast<double>(inside), 0.9989 * static_cast<double>(nonzero));
  }
}

std::vector<float> CubedGauss() {
  std::vector<float> values = Gauss();
  for (float& v : values) v = v * v * v;
  return values;
}

// The least error that any threshold reaches.
double BestSymmetricError(const std::vector<float>& values, TensorRange range) {
  double best = SymmetricError(values, range);
  const float max = range.threshold;
  for (int percent = 99; percent > 20; --percent) {
    range.threshold = max * static_cast<float>(percent) / 100;
    best = std::min(best, SymmetricError(values, range));
  }
  return best;
}

TEST(ThresholdTest, KlBeatsMinMaxOnHeavyTails) {
  for (const auto& values : {Laplace(), CubedGauss(), Relu(Laplace()), Relu(CubedGauss())}) {
    const TensorStatistics statistics = Statistics(values);
    const TensorRange kl = DeriveRange(statistics, kKl), minmax = DeriveRange(statistics, kMinMax);
    const double full = SymmetricError(values, minmax);
    EXPECT_LT(SymmetricError(values, kl), full);
    EXPECT_LT(SymmetricError(values, kl),
              1.02 * std::sqrt(full * BestSymmetricError(values, minmax)));
    EXPECT_LT(AsymmetricError(values, kl), AsymmetricError(values, minmax));
  }
}

TEST(ThresholdTest, KlIsTwoSided) {
  std::vector<float> values = Gauss();
  for (float& v : values) v = v > 0 ? v * v * v : v;  // only the upper tail is heavy
  const TensorRange range = DeriveRange(Statistics(values), kKl);
  EXPECT_LE(range.low, -3.0f);
  EXPECT_LT(range.high, 0.9f * range.max);
  const TensorRange positive = DeriveRange(Statistics({2, 3, 4, 5}), kKl);
  EXPECT_EQ(positive.low, 2);
}

// Of all pairs on a grid of the observed range.
double BestAsymmetricError(const std::vector<float>& values, const TensorRange& observed) {
  double best = AsymmetricError(values, observed);
  TensorRange range = observed;
  for (int low = 0; low <= 20; ++low) {
    for (int high = 1; high <= 20; ++high) {
      range.low = std::min(observed.min, 0.0f) * static_cast<float>(low) / 20;
      range.high = std::max(observed.max, 0.0f) * static_cast<float>(high) / 20;
      best = std::min(best, AsymmetricError(values, range));
    }
  }
  return best;
}

TEST(ThresholdTest, MseHasTheLeastErrorOfAllRanges) {
  std::vector<float> outlier = Gauss();
  outlier[3] = 20;
  for (std::vector<float> values : {Gauss(), Laplace(), Relu(Laplace()), CubedGauss(), outlier}) {
    values.resize(20000);
    const TensorStatistics statistics = Statistics(values);
    const TensorRange mse = DeriveRange(statistics, {Method::kMse, 99.99});
    const TensorRange observed = DeriveRange(statistics, kMinMax);
    EXPECT_LE(SymmetricError(values, mse), 1.03 * BestSymmetricError(values, observed));
    EXPECT_LE(AsymmetricError(values, mse), 1.03 * BestAsymmetricError(values, observed));
    EXPECT_EQ(mse.method, "mse");
  }
}

// The paper's constants for 8 bits, and those of one half of the distribution.
TEST(ThresholdTest, AciqClipsWhereItsDistributionSays) {
  struct Case {
    Method method;
    std::vector<float> values;
    double clipping;  // of the unit of that distribution
  };
  for (const Case& c :
       {Case{Method::kAciqGauss, Gauss(), 3.924}, Case{Method::kAciqGauss, Relu(Gauss()), 4.20},
        Case{Method::kAciqLaplace, Laplace(), 9.897},
        Case{Method::kAciqLaplace, Relu(Laplace()), 11.16}}) {
    std::vector<float> values = c.values;
    values[5] = 20;  // so that the observed range does not end it
    if (*std::min_element(values.begin(), values.end()) < 0) values[6] = -20;
    const TensorRange range = DeriveRange(Statistics(values), {c.method, 99.99});
    EXPECT_NEAR(range.threshold, c.clipping, 0.04 * c.clipping);
    EXPECT_NEAR(range.high, c.clipping, 0.04 * c.clipping);
    if (range.min < 0) {
      EXPECT_NEAR(range.low, -c.clipping, 0.04 * c.clipping);
    }
  }
}

double SeenError(const std::vector<float>& values, const std::function<double(double)>& function,
                 double scale, int lo, int hi, int zero = 0) {
  double sum = 0;
  for (const float v : values) {
    const double q = std::clamp(std::nearbyint(v / scale) + zero, static_cast<double>(lo),
                                static_cast<double>(hi));
    const double off = function(v) - function((q - zero) * scale);
    sum += off * off;
  }
  return sum / static_cast<double>(values.size());
}

// Logits far in the flat part of a Sigmoid: no other threshold of a fine grid is clearly better.
TEST(ThresholdTest, OmseEndsWhereItsFunctionsAreFlat) {
  std::vector<float> values = Gauss();
  for (float& v : values) v = 12 * v - 10;
  const TensorStatistics statistics = Statistics(values);
  MethodOptions options{Method::kOmse, 99.99};
  options.readers = {{UnaryOp::kSigmoid}};
  const TensorRange range = DeriveRange(statistics, options);
  const TensorRange mse = DeriveRange(statistics, {Method::kMse, 99.99});
  EXPECT_LT(range.threshold, mse.threshold / 3);
  EXPECT_GT(range.threshold, 5);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double found = SeenError(values, sigmoid, range.threshold / 128.0, -128, 127);
  EXPECT_LT(10 * found, SeenError(values, sigmoid, mse.threshold / 128.0, -128, 127));
  for (double threshold = 2; threshold < 60; threshold *= 1.05) {
    EXPECT_LT(found, 1.05 * SeenError(values, sigmoid, threshold / 128, -128, 127)) << threshold;
  }
  const double scale = (static_cast<double>(range.high) - static_cast<double>(range.low)) / 255;
  const int zero = static_cast<int>(std::nearbyint(-128 - static_cast<double>(range.low) / scale));
  EXPECT_LE(SeenError(values, sigmoid, scale, -128, 127, zero), 1.05 * found);
}

TEST(ThresholdTest, OmseWithoutFunctionsIsMse) {
  const TensorStatistics statistics = Statistics(Laplace());
  const TensorRange range = DeriveRange(statistics, {Method::kOmse, 99.99});
  const TensorRange mse = DeriveRange(statistics, {Method::kMse, 99.99});
  EXPECT_EQ(range.method, "mse");
  EXPECT_EQ(range.threshold, mse.threshold);
  EXPECT_EQ(range.low, mse.low);
}

// Also where a function is not defined for some of the values.
TEST(ThresholdTest, OmseOfAnyFunctionIsWithinWhatWasSeen) {
  for (size_t op = 0; op < kUnaryOpCount; ++op) {
    MethodOptions options{Method::kOmse, 99.99};
    options.readers = {{static_cast<UnaryOp>(op)}, {UnaryOp::kTanh}};
    const TensorRange range = DeriveRange(Statistics({-3, -1, 0, 0.5f, 8}), options);
    EXPECT_EQ(range.method, "omse");
    EXPECT_GT(range.threshold, 0);
    EXPECT_LE(range.threshold, 8);
    EXPECT_GE(range.low, -3);
    EXPECT_LE(range.high, 8);
    EXPECT_LT(range.low, range.high);
  }
}

TEST(ThresholdTest, UnknownMethodAndBadPercentile) {
  EXPECT_EQ(ParseMethod("minmax"), Method::kMinMax);
  EXPECT_EQ(ParseMethod("percentile"), Method::kPercentile);
  EXPECT_EQ(ParseMethod("kl"), Method::kKl);
  EXPECT_EQ(ParseMethod("entropy"), Method::kKl);
  EXPECT_EQ(ParseMethod("max"), Method::kMinMax);
  EXPECT_THAT(ErrorOf([] { ParseMethod("best"); }),
              HasSubstr("minmax, percentile, kl, mse, omse, aciq-gauss or aciq-laplace"));
  for (const double bad : {50.0, 100.5, -1.0, std::nan("")}) {
    EXPECT_NE(ErrorOf([&] {
                DeriveRange(Statistics({1}), {Method::kPercentile, bad});
              }),
              kNoError)
        << bad;
  }
}

TEST(ThresholdTest, TheMethodOfATable) {
  for (const Method method : kAllMethods)
    EXPECT_EQ(MethodOfTable(MethodName({method, 99.5})), method);
  for (const char* other : {"", "user", "klx", "tpu-mlir percentile", " kl"})
    EXPECT_EQ(MethodOfTable(other), std::nullopt) << other;
}

TEST(DeriveTableTest, TakesOverWhatTheStatisticsSay) {
  StatisticsFile file{
      "abc", 3, "recipe", {{"cpu", "x"}}, {{"1", "b"}, {"2", "a"}}, {Statistics({-1, 2})}};
  const CalibrationTable table = DeriveTable(file, {Method::kPercentile, 99.99});
  EXPECT_EQ(table.model_sha256, "abc");
  EXPECT_EQ(table.method, "percentile 99.99");
  EXPECT_EQ(table.samples, 2);
  EXPECT_THAT(table.sample_names, ::testing::ElementsAre("b", "a"));
  EXPECT_EQ(table.preprocess, "recipe");
  EXPECT_EQ(table.pass_list_version, 3);
  EXPECT_EQ(table.tensors.at(0).first, "t");
  file.samples[0].first = "0";
  EXPECT_NE(DeriveTable(file, kKl).samples_sha256, table.samples_sha256);
}

// The search computes to the last bit only what may be the best by its estimate.
TEST(DivergenceTest, EstimatesAreWithinTheirError) {
  std::mt19937 random(kSeed);
  for (const auto& values : {Gauss(), Laplace(), Relu(Gauss()), std::vector<float>{1, 2, 50, -3}}) {
    const TensorStatistics statistics = Statistics(values);
    const LinearHistogram histogram = SignedHistogram(statistics, Bins(statistics), 4096);
    const ClipError error(histogram);
    for (const int levels : {1, 2, 3, 128, 255, 256}) {
      Divergence divergence(histogram, error, levels);
      for (int round = 0; round < 40; ++round) {
        const size_t first = random() % (4096 - static_cast<size_t>(levels));
        const size_t widest = 4096 - first - static_cast<size_t>(levels);
        const size_t last = first + static_cast<size_t>(levels) + random() % (widest + 1);
        const double exact = divergence(first, last), estimate = divergence.Estimate(first, last);
        if (std::isinf(exact)) {
          EXPECT_EQ(estimate, exact);
        } else {
          EXPECT_NEAR(estimate, exact, Divergence::kEstimateError / 100)
              << "seed " << kSeed << ", " << levels << " levels, bins " << first << " to " << last;
        }
      }
    }
  }
}
}  // namespace
}  // namespace rshift
