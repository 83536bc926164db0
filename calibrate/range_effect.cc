#include "calibrate/range_effect.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/portable_math.h"
#include "calibrate/observed_program.h"
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

// What the values of a bin are taken to be: lying evenly in it, so its middle and the spread around
// that. The same for every range that is tried.
struct EvenBin {
  double low = 0, high = 0, middle = 0, spread = 0, count = 0;
};

std::vector<EvenBin> EvenBins(const TensorStatistics& statistics) {
  std::vector<EvenBin> even;
  for (const WeightedBin& bin : Bins(statistics)) {
    const double low = std::max<double>(bin.low, statistics.min);
    const double high = std::min<double>(bin.high, statistics.max);
    const double width = std::max(0.0, high - low);
    even.push_back(
        {low, high, (low + high) / 2, width * width / 12, static_cast<double>(bin.count)});
  }
  return even;
}

RangeEffect EffectOf(const TensorStatistics& statistics, const std::vector<EvenBin>& bins,
                     const Quantizer& to) {
  double clipped = 0, signal = 0, error = 0;
  for (const EvenBin& bin : bins) {
    const double off = bin.middle - to.Rounded(bin.middle);
    signal += bin.count * (bin.middle * bin.middle + bin.spread);
    error += bin.count * (off * off + (off == 0 ? 0 : bin.spread));
    if (bin.low >= to.low && bin.high <= to.high) continue;  // nothing is clipped
    const double inside = std::min(bin.high, to.high) - std::max(bin.low, to.low);
    const double width = std::max(0.0, bin.high - bin.low);
    if (width > 0)
      clipped += bin.count * (1 - std::clamp(inside / width, 0.0, 1.0));
    else if (inside < 0)
      clipped += bin.count;
  }
  RangeEffect effect;
  if (statistics.count > 0)
    effect.clipped = Rounded(clipped / static_cast<double>(statistics.count), "%.3g");
  const double db = error > 0 ? 10 * portable::Log10(signal / error) : kMostDb;
  effect.sqnr_db = Rounded(std::clamp(db, -kMostDb, kMostDb), "%.1f");
  return effect;
}

std::string ReasonOf(const TensorStatistics& statistics, const TensorRange& range) {
  if (range.method == kKnownMethod) {
    // 1 is the bound of all such functions.
    const bool seen =
        range.threshold < 1 && range.low == statistics.min && range.high == statistics.max;
    return seen ? "the whole observed range, far within the bounds of the function"
                : "bounds of the function";
  }
  if (statistics.count == 0) return "no values";
  if (statistics.min == 0 && statistics.max == 0) return "all values are zero";
  const float reach = std::max(std::abs(range.min), std::abs(range.max));
  if (range.threshold >= reach && range.low <= range.min && range.high >= range.max)
    return "the whole observed range";
  const std::optional<Method> method = MethodOfTable(range.method);
  return method ? std::string(CriterionOf(*method)) : "";
}

}  // namespace

void DescribeRanges(const StatisticsFile& statistics, std::span<CalibrationTable> tables,
                    int threads) {
  ForEachIndex(threads, statistics.tensors.size(), [&]() -> IndexWork {
    return [&](size_t i) {
      const TensorStatistics& tensor = statistics.tensors[i];
      const std::vector<EvenBin> bins = EvenBins(tensor);
      std::vector<std::pair<Quantizer, RangeEffect>> known;  // methods often agree
      const auto effect_of = [&](const Quantizer& to) {
        for (const auto& [quantizer, effect] : known) {
          if (quantizer == to) return effect;
        }
        known.emplace_back(to, EffectOf(tensor, bins, to));
        return known.back().second;
      };
      for (CalibrationTable& table : tables) {
        TensorRange& range = table.tensors[i].second;
        range.symmetric = effect_of(SymmetricQuantizer(range));
        range.asymmetric = effect_of(AsymmetricQuantizer(range));
        if (range.reason.empty()) range.reason = ReasonOf(tensor, range);
        range.min_sample = tensor.min_sample.name;
        range.max_sample = tensor.max_sample.name;
      }
    };
  });
}

}  // namespace rshift
