#include "calibrate/range_effect.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "calibrate/quantizer.h"
#include "calibrate/threshold.h"

namespace rshift {
namespace {

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
    const double off = middle - to.Rounded(middle);
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
    range.symmetric = EffectOf(tensor, bins, SymmetricQuantizer(range));
    range.asymmetric = EffectOf(tensor, bins, AsymmetricQuantizer(range));
    if (range.reason.empty()) range.reason = ReasonOf(tensor, range);
    range.min_sample = tensor.min_sample.name;
    range.max_sample = tensor.max_sample.name;
  }
}

}  // namespace rshift
