#include "pipeline/diagnose/value_shape.h"

#include <algorithm>
#include <cmath>

namespace rshift {
namespace {

constexpr uint64_t kBulkOf = 1000;  // one of so many elements is not of the bulk

double Center(const WeightedBin& bin) { return (bin.low + bin.high) / 2; }

void DescribeBulk(std::vector<WeightedBin> bins, uint64_t count, TensorFacts& facts) {
  std::stable_sort(bins.begin(), bins.end(), [](const WeightedBin& a, const WeightedBin& b) {
    return std::fabs(Center(a)) < std::fabs(Center(b));
  });
  const uint64_t bulk = count - count / kBulkOf;
  uint64_t seen = 0;
  double squares = 0;
  for (const WeightedBin& bin : bins) {
    const uint64_t taken = std::min(bin.count, bulk - seen);
    squares += static_cast<double>(taken) * Center(bin) * Center(bin);
    seen += taken;
    facts.bulk_peak = static_cast<float>(std::max(std::fabs(bin.low), std::fabs(bin.high)));
    if (seen == bulk) break;
  }
  facts.bulk_peak = std::min(facts.bulk_peak, std::max(std::fabs(facts.min), std::fabs(facts.max)));
  facts.bulk_rms = std::sqrt(squares / static_cast<double>(bulk));
}

void DescribeGap(const std::vector<WeightedBin>& bins, uint64_t count, TensorFacts& facts) {
  const double whole = static_cast<double>(facts.max) - static_cast<double>(facts.min);
  uint64_t below = 0;
  for (size_t i = 0; i + 1 < bins.size(); ++i) {
    below += bins[i].count;
    const double share = (bins[i + 1].low - bins[i].high) / whole;
    if (!(whole > 0) || share <= facts.gap.share) continue;
    const bool larger_is_below = below > count - below;
    facts.gap.share = share;
    facts.gap.smaller_side =
        static_cast<double>(std::min(below, count - below)) / static_cast<double>(count);
    facts.gap.larger_width =
        larger_is_below ? bins[i].high - bins.front().low : bins.back().high - bins[i + 1].low;
    facts.gap.low = static_cast<float>(bins[i].high);
    facts.gap.high = static_cast<float>(bins[i + 1].low);
  }
}

}  // namespace

void DescribeValues(const TensorStatistics& statistics, TensorFacts& facts) {
  if (statistics.count == 0) return;
  facts.min = statistics.min;
  facts.max = statistics.max;
  const std::vector<WeightedBin> bins = Bins(statistics);
  DescribeBulk(bins, statistics.count, facts);
  DescribeGap(bins, statistics.count, facts);
  if (!facts.has_range) return;
  uint64_t beyond = 0;
  for (const WeightedBin& bin : bins) {
    const double center = Center(bin);
    if (center < static_cast<double>(facts.range_low) ||
        center > static_cast<double>(facts.range_high))
      beyond += bin.count;
  }
  facts.clipped = static_cast<double>(beyond) / static_cast<double>(statistics.count);
}

}  // namespace rshift
