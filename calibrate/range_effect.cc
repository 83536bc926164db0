#include "calibrate/range_effect.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "calibrate/threshold.h"
#include "quantize/numerics/qparams.h"

namespace rshift {
namespace {

// A quantizer: numbers `least` to `greatest` times scale, and where real values begin to be
// clipped.
struct Quantizer {
  double scale = 1, least = 0, greatest = 0;
  double low = 0, high = 0;
};

Quantizer Symmetric(const TensorRange& range) {
  const bool is_signed = range.min < 0;
  const double scale = numerics::SymmetricParams(range.threshold, is_signed).scale;
  const double low = is_signed ? -static_cast<double>(range.threshold) : 0.0;
  if (is_signed) return {scale, -128, 127, low, range.threshold};
  return {scale, 0, 255, low, range.threshold};
}

Quantizer Asymmetric(const TensorRange& range) {
  const QuantParams params = numerics::AsymmetricParams(range.low, range.high);
  const double zero = params.zero_point;
  return {params.scale, -128 - zero, 127 - zero, std::min(range.low, 0.0f),
          std::max(range.high, 0.0f)};
}

// Few digits: a table that is measured again differs where something has changed.
float Rounded(double value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return std::strtof(text, nullptr);
}

constexpr double kMostDb = 200;  // as pipeline/compare.h has it where nothing is lost

// Values of a bin are taken to lie evenly in it: its middle, and the spread around that.
RangeEffect EffectOf(const TensorStatistics& statistics, const std::vector<WeightedBin>& bins,
                     const Quantizer& to) {
  double clipped = 0, signal = 0, error = 0;
  for (const WeightedBin& bin : bins) {
    const double low = std::max<double>(bin.low, statistics.min);
    const double high = std::min<double>(bin.high, statistics.max);
    const double middle = (low + high) / 2, width = std::max(0.0, high - low);
    const double spread = width * width / 12, count = static_cast<double>(bin.count);
    const double number = std::clamp(std::nearbyint(middle / to.scale), to.least, to.greatest);
    const double off = middle - number * to.scale;
    signal += count * (middle * middle + spread);
    error += count * (off * off + (off == 0 ? 0 : spread));
    const double inside = std::min(high, to.high) - std::max(low, to.low);
    if (width > 0)
      clipped += count * (1 - std::clamp(inside / width, 0.0, 1.0));
    else if (inside < 0)
      clipped += count;
  }
  RangeEffect effect;
  if (statistics.count > 0)
    effect.clipped = Rounded(clipped / static_cast<double>(statistics.count), "%.3g");
  const double db = error > 0 ? 10 * std::log10(signal / error) : kMostDb;
  effect.sqnr_db = Rounded(std::clamp(db, -kMostDb, kMostDb), "%.1f");
  return effect;
}

std::string ReasonOf(const TensorStatistics& statistics, const TensorRange& range) {
  if (range.method == "known") return "bounds of the function";
  if (statistics.count == 0) return "no values";
  if (statistics.min == 0 && statistics.max == 0) return "all values are zero";
  const float reach = std::max(std::abs(range.min), std::abs(range.max));
  if (range.threshold >= reach && range.low <= range.min && range.high >= range.max)
    return "the whole observed range";
  const std::optional<Method> method = MethodOfTable(range.method);
  return method ? std::string(CriterionOf(*method)) : "";
}

}  // namespace

void DescribeRanges(const StatisticsFile& statistics, CalibrationTable& table) {
  for (size_t i = 0; i < statistics.tensors.size(); ++i) {
    const TensorStatistics& tensor = statistics.tensors[i];
    TensorRange& range = table.tensors[i].second;
    const std::vector<WeightedBin> bins = Bins(tensor);
    range.symmetric = EffectOf(tensor, bins, Symmetric(range));
    range.asymmetric = EffectOf(tensor, bins, Asymmetric(range));
    if (range.reason.empty()) range.reason = ReasonOf(tensor, range);
  }
}

}  // namespace rshift
