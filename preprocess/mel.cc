#include "preprocess/mel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/portable_math.h"

namespace rshift {
namespace {

using MelScale = MelFilters::Scale;

// HTK: 1127 ln(1 + f / 700). Slaney (Auditory Toolbox): 3 / 200 of f up to 1000 Hz, from there 27
// steps for each factor of 6.4.
constexpr double kHtkFactor = 1127, kHtkBreak = 700;
constexpr double kSlaneySlope = 3.0 / 200, kSlaneyBreak = 1000, kSlaneySteps = 27;

double SlaneyStep() { return portable::Log(6.4) / kSlaneySteps; }

double MelOf(double hertz, MelScale scale) {
  if (scale == MelScale::kHtk) return kHtkFactor * portable::Log(1 + hertz / kHtkBreak);
  if (hertz < kSlaneyBreak) return hertz * kSlaneySlope;
  return kSlaneyBreak * kSlaneySlope + portable::Log(hertz / kSlaneyBreak) / SlaneyStep();
}

double HertzOf(double mel, MelScale scale) {
  if (scale == MelScale::kHtk) return kHtkBreak * (portable::Exp(mel / kHtkFactor) - 1);
  constexpr double kBreak = kSlaneyBreak * kSlaneySlope;
  if (mel < kBreak) return mel / kSlaneySlope;
  return kSlaneyBreak * portable::Exp((mel - kBreak) * SlaneyStep());
}

// From 0 at `left` to 1 at `top` to 0 at `right`.
double Triangle(double x, double left, double top, double right) {
  return std::max(0.0, std::min((x - left) / (top - left), (right - x) / (right - top)));
}

}  // namespace

std::vector<MelFilter> MakeMelFilters(const MelFilters& recipe, int sample_rate, int fft) {
  const double low = MelOf(recipe.low, recipe.scale), high = MelOf(recipe.high, recipe.scale);
  std::vector<double> corners;  // in mel
  corners.reserve(static_cast<size_t>(recipe.bins) + 2);
  for (int i = 0; i < recipe.bins + 2; ++i)
    corners.push_back(low + (high - low) * i / (recipe.bins + 1));
  std::vector<double> hertz;
  hertz.reserve(corners.size());
  for (const double corner : corners) hertz.push_back(HertzOf(corner, recipe.scale));
  const bool in_mel = recipe.sides == MelFilters::Sides::kMel;
  const std::vector<double>& axis = in_mel ? corners : hertz;
  std::vector<double> frequencies;
  for (int k = 0; k <= fft / 2; ++k) {
    const double frequency = static_cast<double>(sample_rate) * k / fft;
    frequencies.push_back(in_mel ? MelOf(frequency, recipe.scale) : frequency);
  }
  std::vector<MelFilter> filters(static_cast<size_t>(recipe.bins));
  for (size_t b = 0; b < filters.size(); ++b) {
    const double area =
        recipe.norm == MelFilters::Norm::kSlaney ? 2 / (hertz[b + 2] - hertz[b]) : 1.0;
    const auto inside = [&](double x) { return x > axis[b] && x < axis[b + 2]; };
    const auto first = std::find_if(frequencies.begin(), frequencies.end(), inside);
    const auto last = std::find_if_not(first, frequencies.end(), inside);
    filters[b].first = static_cast<size_t>(first - frequencies.begin());
    for (auto at = first; at != last; ++at)
      filters[b].weights.push_back(area * Triangle(*at, axis[b], axis[b + 1], axis[b + 2]));
  }
  return filters;
}

double Through(const MelFilter& filter, std::span<const double> spectrum) {
  double sum = 0;
  for (size_t i = 0; i < filter.weights.size(); ++i)
    sum += filter.weights[i] * spectrum[filter.first + i];
  return sum;
}

std::vector<double> MakeCosines(const CosineTransform& recipe, int bins) {
  std::vector<double> cosines;
  for (int k = 0; k < recipe.count; ++k) {
    const bool halved = k == 0 && recipe.norm == CosineTransform::Norm::kOrtho;
    const double factor = std::sqrt((halved ? 1.0 : 2.0) / bins);
    for (int b = 0; b < bins; ++b)
      cosines.push_back(factor * portable::Cos(std::numbers::pi * k * (2 * b + 1) / (2 * bins)));
  }
  return cosines;
}

}  // namespace rshift
