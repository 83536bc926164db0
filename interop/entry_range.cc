#include "interop/entry_range.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "quantize/numerics/qparams.h"

namespace rshift {
namespace {

// A float and its neighbours, nearest first.
std::array<float, 5> Near(double number) {
  const auto first = static_cast<float>(number);
  const float down = std::nextafter(first, -INFINITY), up = std::nextafter(first, INFINITY);
  return {first, down, up, std::nextafter(down, -INFINITY), std::nextafter(up, INFINITY)};
}

// The float whose quotient by `steps` is the float nearest to `scale`, where there is one.
float ThresholdFor(double scale, double steps) {
  const auto wanted = static_cast<float>(scale);
  const std::array<float, 5> near = Near(static_cast<double>(wanted) * steps);
  const auto* found = std::find_if(near.begin(), near.end(), [&](float t) {
    return static_cast<float>(static_cast<double>(t) / steps) == wanted;
  });
  return found == near.end() ? near[0] : *found;
}

// Ends of the range of 8 bits with `zero` of 0..255 as zero point.
void SetEnds(double scale, int64_t zero, TensorRange* range) {
  const auto wanted = static_cast<float>(scale);
  const double below = static_cast<double>(zero) * static_cast<double>(wanted);
  const double above = static_cast<double>(255 - zero) * static_cast<double>(wanted);
  for (const float high : Near(above)) {
    for (const float low : Near(-below)) {
      if ((zero == 0 && low != 0) || (zero == 255 && high != 0)) continue;
      const QuantParams made = numerics::AsymmetricParams(low, high, 0, 255);
      if (made.scale != wanted || made.zero_point != zero) continue;
      range->low = low;
      range->high = high;
      return;
    }
  }
}

}  // namespace

TensorRange RangeOfEntry(const ScaleEntry& entry) {
  const AxisRange ends = RangeOf(entry);
  TensorRange range;
  range.low = static_cast<float>(*std::min_element(ends.low.begin(), ends.low.end()));
  range.high = static_cast<float>(*std::max_element(ends.high.begin(), ends.high.end()));
  range.threshold = static_cast<float>(ThresholdOf(entry, std::exp2(entry.bits - 1)));
  if (!entry.scales.empty() && IsCentred(entry) && entry.bits == 8) {
    const double scale = *std::max_element(entry.scales.begin(), entry.scales.end());
    range.threshold = ThresholdFor(scale, IsSigned(entry) ? 128.0 : 255.0);
  }
  if (entry.scales.size() == 1 && entry.bits == 8 && entry.low.empty()) {
    const int64_t zero = entry.zero_points.empty() ? 0 : entry.zero_points[0];
    SetEnds(entry.scales[0], zero - QMin(8, IsSigned(entry)), &range);
  }
  range.min = static_cast<float>(entry.min.value_or(static_cast<double>(range.low)));
  range.max = static_cast<float>(entry.max.value_or(static_cast<double>(range.high)));
  range.method = "scales";
  return range;
}

}  // namespace rshift
