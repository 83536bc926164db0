#include "calibrate/linear_histogram.h"

#include <algorithm>
#include <cmath>

namespace rshift {
namespace {

void AddInterval(LinearHistogram& histogram, double low, double high, double count) {
  const auto bins = static_cast<int64_t>(histogram.counts.size());
  const double width = histogram.width();
  const auto bin_of = [&](double x) {
    return std::clamp<int64_t>(static_cast<int64_t>((x - histogram.low) / width), 0, bins - 1);
  };
  // The outermost bins end beyond the observed extremes, where nothing was.
  low = std::clamp(low, histogram.low, histogram.high);
  high = std::clamp(high, histogram.low, histogram.high);
  const int64_t first = bin_of(low), last = bin_of(high);
  if (first == last || high <= low) {
    histogram.counts[static_cast<size_t>(first)] += count;
    return;
  }
  for (int64_t bin = first; bin <= last; ++bin) {
    const double begin = std::max(low, histogram.low + static_cast<double>(bin) * width);
    const double end =
        bin == last ? high : std::min(high, histogram.low + static_cast<double>(bin + 1) * width);
    histogram.counts[static_cast<size_t>(bin)] += count * std::max(0.0, end - begin) / (high - low);
  }
}

// A prefix sum between two bins.
double At(const std::vector<double>& sums, double position) {
  const auto bin = std::min(static_cast<size_t>(position), sums.size() - 2);
  return sums[bin] + (position - static_cast<double>(bin)) * (sums[bin + 1] - sums[bin]);
}

}  // namespace

LinearHistogram SignedHistogram(const TensorStatistics& statistics,
                                std::span<const WeightedBin> from, size_t bins) {
  LinearHistogram histogram{std::min(0.0, static_cast<double>(statistics.min)),
                            std::max(0.0, static_cast<double>(statistics.max)),
                            std::vector<double>(bins, 0.0)};
  for (const WeightedBin& bin : from) {
    if (bin.low != bin.high)
      AddInterval(histogram, bin.low, bin.high, static_cast<double>(bin.count));
  }
  return histogram;
}

LinearHistogram AbsoluteHistogram(const TensorStatistics& statistics,
                                  std::span<const WeightedBin> from, size_t bins) {
  const double high = std::max(std::abs(static_cast<double>(statistics.min)),
                               std::abs(static_cast<double>(statistics.max)));
  LinearHistogram histogram{0.0, high, std::vector<double>(bins, 0.0)};
  for (const WeightedBin& bin : from) {
    const bool negative = bin.low < 0;
    if (bin.low != bin.high) {
      AddInterval(histogram, negative ? -bin.high : bin.low, negative ? -bin.low : bin.high,
                  static_cast<double>(bin.count));
    }
  }
  return histogram;
}

ClipError::ClipError(const LinearHistogram& histogram) : histogram_(histogram) {
  const size_t bins = histogram.counts.size();
  s0_.assign(bins + 1, 0.0);
  s1_.assign(bins + 1, 0.0);
  s2_.assign(bins + 1, 0.0);
  for (size_t i = 0; i < bins; ++i) {
    const double x = histogram.Center(i), count = histogram.counts[i];
    s0_[i + 1] = s0_[i] + count;
    s1_[i + 1] = s1_[i] + count * x;
    s2_[i + 1] = s2_[i] + count * x * x;
  }
}

double ClipError::Distance(size_t first, size_t last, double border) const {
  const double d0 = s0_[last] - s0_[first], d1 = s1_[last] - s1_[first],
               d2 = s2_[last] - s2_[first];
  return std::max(0.0, d2 - 2 * border * d1 + border * border * d0);
}

double ClipError::operator()(size_t first, size_t last, int levels) const {
  const double width = histogram_.width();
  const double low = histogram_.low + static_cast<double>(first) * width;
  const double high = histogram_.low + static_cast<double>(last) * width;
  const double step = (high - low) / levels;
  // Half a step is only a few bins: bins count in part, or the error would jump from one range to
  // the next.
  const auto position = [&](double x) {
    return std::clamp((x - histogram_.low) / width, static_cast<double>(first),
                      static_cast<double>(last));
  };
  const double zero_first = position(-step / 2), zero_last = position(step / 2);
  const double to_zero = At(s2_, zero_last) - At(s2_, zero_first);
  const double rounded = Mass(first, last) - (At(s0_, zero_last) - At(s0_, zero_first));
  return Distance(0, first, low) + Distance(last, histogram_.counts.size(), high) + to_zero +
         std::max(0.0, rounded) * step * step / 12;
}

}  // namespace rshift
