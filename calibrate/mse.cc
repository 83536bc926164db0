// Method mse: the range whose clipping and rounding have the least sum of squared errors together,
// found on 4,096 bins of equal width by the sums of ClipError. The observed range stays where that
// gains less than a hundredth.
#include <algorithm>
#include <cmath>

#include "calibrate/linear_histogram.h"
#include "calibrate/threshold_methods.h"

namespace rshift {
namespace {

struct Kept {
  size_t first = 0, last = kSearchBins;
};

// Bins [0, last) of |x|.
size_t LeastError(const ClipError& error, int levels) {
  size_t best = kSearchBins;
  for (size_t last = kSearchBins - 1; last > 0; --last) {
    if (error(0, last, levels) < error(0, best, levels)) best = last;
  }
  return error(0, best, levels) < kWorthwhile * error(0, kSearchBins, levels) ? best : kSearchBins;
}

// Ends around `kept`, at most `reach` steps away; never across zero, which lies in bin `zero`.
Kept Refine(const ClipError& error, const Kept& kept, size_t zero, size_t step, int64_t reach) {
  Kept best = kept;
  for (int64_t i = -reach; i <= reach; ++i) {
    for (int64_t j = -reach; j <= reach; ++j) {
      const int64_t first = static_cast<int64_t>(kept.first) + i * static_cast<int64_t>(step),
                    last = static_cast<int64_t>(kept.last) + j * static_cast<int64_t>(step);
      if (first < 0 || last > static_cast<int64_t>(kSearchBins) || first >= last ||
          first > static_cast<int64_t>(zero) || last < static_cast<int64_t>(zero))
        continue;
      const Kept offer{static_cast<size_t>(first), static_cast<size_t>(last)};
      if (error(offer.first, offer.last, kAsymmetricSteps) <
          error(best.first, best.last, kAsymmetricSteps))
        best = offer;
    }
  }
  return best;
}

}  // namespace

void DeriveMse(const TensorBins& tensor, const MethodOptions&, TensorRange& range) {
  if (range.min == range.max) return;  // one number: every range that holds it is as good
  const LinearHistogram& absolute = tensor.absolute();
  const size_t last =
      LeastError(ClipError(absolute), range.min < 0 ? kSignedSteps : kUnsignedSteps);
  if (last < kSearchBins)
    range.threshold =
        std::min(static_cast<float>(static_cast<double>(last) * absolute.width()), range.threshold);

  const LinearHistogram& both = tensor.both();
  if (both.low == both.high) return;
  const ClipError error(both);
  const auto zero = std::min(static_cast<size_t>(-both.low / both.width()), kSearchBins);
  Kept kept;
  kept = Refine(error, kept, zero, kCoarseStep, kSearchBins / kCoarseStep);
  for (size_t step = kCoarseStep / 4; step > 0; step /= 4)
    kept = Refine(error, kept, zero, step, 4);
  if (error(kept.first, kept.last, kAsymmetricSteps) >=
      kWorthwhile * error(0, kSearchBins, kAsymmetricSteps))
    return;
  const auto at = [&](size_t bin) {
    const double x = both.low + static_cast<double>(bin) * both.width();
    return std::clamp(static_cast<float>(x), range.min, range.max);
  };
  if (kept.first > 0) range.low = at(kept.first);
  if (kept.last < kSearchBins) range.high = at(kept.last);
}

}  // namespace rshift
