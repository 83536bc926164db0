#include "pipeline/paired_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/portable_math.h"

namespace rshift {
double Mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StandardError(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  if (count < 2) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count);
}

double BoundedDecibels(double signal, double error) {
  constexpr double kMost = 120;
  if (error == 0) return kMost;
  return signal == 0 ? -kMost : std::clamp(10 * portable::Log10(signal / error), -kMost, kMost);
}

size_t FirstAsGoodAsTheBest(const std::vector<std::vector<double>>& quality) {
  const auto best =
      std::max_element(quality.begin(), quality.end(),
                       [](const auto& a, const auto& b) { return Mean(a) < Mean(b); });
  for (size_t i = 0; i < quality.size(); ++i) {
    std::vector<double> better(quality[i].size());
    for (size_t s = 0; s < better.size(); ++s) better[s] = (*best)[s] - quality[i][s];
    if (Mean(better) <= StandardError(better)) return i;
  }
  return static_cast<size_t>(best - quality.begin());
}

bool WorthKeeping(const std::vector<double>& before, const std::vector<double>& after) {
  return Mean(after) - Mean(before) >= kAutoGainDb && FirstAsGoodAsTheBest({before, after}) == 1;
}

std::vector<double> HeldOutQuality(size_t samples,
                                   const std::function<std::vector<double>(int half)>& quality_by) {
  std::vector<double> quality(samples);
  for (int half = 0; half < kHalves; ++half) {
    const std::vector<double> all = quality_by(kHalves - 1 - half);
    for (auto s = static_cast<size_t>(half); s < samples; s += kHalves) quality[s] = all[s];
  }
  return quality;
}

}  // namespace rshift
