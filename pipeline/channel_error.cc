#include "pipeline/channel_error.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"

namespace rshift {
namespace {

double Decibels(double power, double error) {
  if (error == 0) return 200;
  if (std::isnan(power) || std::isnan(error)) return -200;
  return std::clamp(10 * portable::Log10(power / error), -200.0, 200.0);
}

void AddLastAxis(std::span<const float> a, std::span<const float> b, int64_t channels,
                 double* power, double* error) {
  for (size_t row = 0; row + static_cast<size_t>(channels) <= a.size();
       row += static_cast<size_t>(channels)) {
    const float *x = a.data() + row, *y = b.data() + row;
    for (int64_t c = 0; c < channels; ++c) {
      const double reference = y[c], difference = x[c] - reference;
      power[c] += reference * reference;
      error[c] += difference * difference;
    }
  }
}

void AddRuns(std::span<const float> a, std::span<const float> b, const ChannelView& view,
             double* power, double* error) {
  size_t at = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t c = 0; c < view.channels; ++c) {
      double p = 0, e = 0;
      for (int64_t i = 0; i < view.inner; ++i, ++at) {
        const double reference = b[at], difference = a[at] - reference;
        p += reference * reference;
        e += difference * difference;
      }
      power[c] += p;
      error[c] += e;
    }
  }
}

}  // namespace

std::vector<ChannelView> ChannelViews(Layout layout, const Shape& shape) {
  const int64_t elements = NumElements(shape);
  if (elements == 0 || shape.size() < 2) return {{1, 1, elements}};
  const auto axis = [&](size_t d) {
    ChannelView view;
    for (size_t i = 0; i < d; ++i) view.outer *= shape[i];
    view.channels = shape[d];
    view.inner = elements / (view.outer * view.channels);
    return view;
  };
  if (layout == Layout::kNhwc) return {axis(shape.size() - 1)};
  if (shape.size() == 3) return {axis(1), axis(2)};
  return {axis(1)};
}

ChannelErrorSum::ChannelErrorSum(const std::vector<ChannelView>& views) {
  for (const ChannelView& view : views) {
    const auto channels = static_cast<size_t>(view.channels);
    sums_.push_back({view, std::vector<double>(channels), std::vector<double>(channels)});
  }
}

void ChannelErrorSum::Add(std::span<const float> a, std::span<const float> b) {
  for (Sums& sums : sums_) {
    const ChannelView& view = sums.view;
    const auto elements = static_cast<size_t>(view.outer * view.channels * view.inner);
    RSHIFT_REQUIRE(a.size() == elements && b.size() == elements, ErrorCode::kInternal,
                   "channels of ", a.size(), " and ", b.size(), " elements, expected ", elements);
    if (view.inner == 1)
      AddLastAxis(a, b, view.channels, sums.power.data(), sums.error.data());
    else
      AddRuns(a, b, view, sums.power.data(), sums.error.data());
  }
}

ChannelSqnr ChannelErrorSum::Result() const {
  ChannelSqnr lowest;
  for (const Sums& sums : sums_) {
    std::vector<double> decibels;
    ChannelSqnr result;
    for (size_t c = 0; c < sums.power.size(); ++c) {
      if (sums.power[c] == 0) continue;  // nothing to represent
      decibels.push_back(Decibels(sums.power[c], sums.error[c]));
      if (result.worst_channel >= 0 && decibels.back() >= result.worst_db) continue;
      result.worst_db = decibels.back();
      result.worst_channel = static_cast<int64_t>(c);
    }
    if (decibels.empty()) continue;
    std::sort(decibels.begin(), decibels.end());
    result.channels = static_cast<int64_t>(decibels.size());
    result.median_db = decibels[(decibels.size() - 1) / 2];
    result.worst_decile_db = decibels[(decibels.size() - 1) / 10];
    if (lowest.channels == 0 || result.median_db < lowest.median_db) lowest = result;
  }
  return lowest;
}

}  // namespace rshift
