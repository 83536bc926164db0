#include "pipeline/paired_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rshift {
namespace {

// Of the mean of the differences.
double StandardError(const std::vector<double>& differences) {
  const auto count = static_cast<double>(differences.size());
  if (count < 2) return 0;
  const double mean = Mean(differences);
  double squares = 0;
  for (const double d : differences) squares += (d - mean) * (d - mean);
  return std::sqrt(squares / (count - 1) / count);
}

}  // namespace

double Mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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

}  // namespace rshift
