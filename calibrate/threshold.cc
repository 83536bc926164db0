#include "calibrate/threshold.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "calibrate/kl.h"

namespace rshift {
namespace {

// Levels on |x|: signed symmetric steps are threshold / 128, unsigned ones threshold / 255.
constexpr int kSignedLevels = 128, kUnsignedLevels = 255, kAsymmetricLevels = 256;

// The border below which `wanted` of the values lie; `bins` ascending. The end of the bin that
// reaches it.
double Quantile(const std::vector<WeightedBin>& bins, double wanted) {
  double below = 0;
  for (const WeightedBin& bin : bins) {
    below += static_cast<double>(bin.count);
    if (below >= wanted) return bin.high;
  }
  return bins.back().high;
}

std::vector<WeightedBin> Mirrored(std::vector<WeightedBin> bins) {
  for (WeightedBin& bin : bins) bin = {-bin.high, -bin.low, bin.count};
  std::reverse(bins.begin(), bins.end());
  return bins;
}

std::vector<WeightedBin> Magnitudes(std::vector<WeightedBin> bins) {
  for (WeightedBin& bin : bins) {
    if (bin.low < 0) bin = {-bin.high, -bin.low, bin.count};
  }
  std::stable_sort(bins.begin(), bins.end(),
                   [](const WeightedBin& a, const WeightedBin& b) { return a.low < b.low; });
  return bins;
}

// Threshold: p percent of all |x| (zeros count). Low and high: the rest is cut off half at each
// end; all of it at one end when the tensor never goes beyond zero at the other. A range that would
// be empty although values are not zero (more than p percent are) falls back to the observed one.
void DerivePercentile(const TensorStatistics& statistics, double percentile, TensorRange& range) {
  const std::vector<WeightedBin> bins = Bins(statistics);
  const auto count = static_cast<double>(statistics.count);
  const double rest = (100.0 - percentile) / 100.0 * count;
  const auto bounded = [](double value, float low, float high) {
    return std::clamp(static_cast<float>(value), low, high);
  };
  const float threshold = bounded(Quantile(Magnitudes(bins), count - rest), 0.0f, range.threshold);
  if (threshold > 0) range.threshold = threshold;
  const bool two_sided = range.min < 0 && range.max > 0;
  const double tail = two_sided ? rest / 2 : rest;
  const float high =
      range.max > 0 ? bounded(Quantile(bins, count - tail), range.min, range.max) : range.max;
  const float low = range.min < 0
                        ? bounded(-Quantile(Mirrored(bins), count - tail), range.min, range.max)
                        : range.min;
  if (high > low && (low < 0 || high > 0)) {
    range.low = low;
    range.high = high;
  }
}

void DeriveKl(const TensorStatistics& statistics, TensorRange& range) {
  const bool is_signed = range.min < 0;
  const double threshold = KlThreshold(statistics, is_signed ? kSignedLevels : kUnsignedLevels);
  range.threshold = std::min(static_cast<float>(threshold), range.threshold);
  const ClipRange clip = KlRange(statistics, kAsymmetricLevels);
  range.low = static_cast<float>(clip.low);
  range.high = static_cast<float>(clip.high);
}

}  // namespace

Method ParseMethod(const std::string& name) {
  if (name == "minmax") return Method::kMinMax;
  if (name == "percentile") return Method::kPercentile;
  if (name == "kl") return Method::kKl;
  Fail(ErrorCode::kInvalidInput, "unknown threshold method '", name,
       "', expected minmax, percentile or kl");
}

TensorRange DeriveRange(const TensorStatistics& statistics, const MethodOptions& options) {
  RSHIFT_REQUIRE(options.percentile > 50 && options.percentile <= 100, ErrorCode::kInvalidInput,
                 "percentile ", options.percentile, ", expected more than 50 and at most 100");
  TensorRange range;
  if (statistics.count > 0) {
    range.min = range.low = statistics.min;
    range.max = range.high = statistics.max;
    range.threshold = std::max(std::abs(range.min), std::abs(range.max));
  }
  switch (options.method) {
    case Method::kMinMax:
      range.method = "minmax";
      break;
    case Method::kPercentile:
      range.method = Cat("percentile ", options.percentile);
      break;
    case Method::kKl:
      range.method = "kl";
      break;
  }
  if (range.threshold == 0 || options.method == Method::kMinMax) return range;
  if (options.method == Method::kPercentile)
    DerivePercentile(statistics, options.percentile, range);
  else
    DeriveKl(statistics, range);
  return range;
}

}  // namespace rshift
