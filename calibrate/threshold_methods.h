// The function behind each threshold method. Not for use outside calibrate: DeriveRanges calls it.
#ifndef RSHIFT_CALIBRATE_THRESHOLD_METHODS_H_
#define RSHIFT_CALIBRATE_THRESHOLD_METHODS_H_

#include <cstddef>

#include "calibrate/tensor_bins.h"
#include "calibrate/threshold.h"

namespace rshift {

// Searches of kl and mse: bins of a tensor's histogram, and the grid they begin on (in bins; each
// refinement divides it by 4).
inline constexpr size_t kSearchBins = 4096, kCoarseStep = 64;

// Steps of the quantizer over what a range keeps: over [0, threshold] where the minimum is below
// zero (scale threshold / 128) and where it is not (threshold / 255), and over [low, high] in the
// asymmetric mode (scale (high - low) / 255), whose numbers are one more than its steps.
inline constexpr int kSignedSteps = 128, kUnsignedSteps = 255, kAsymmetricSteps = 255;

// mse and omse take a narrower range where its error is below this share of the whole one's.
inline constexpr double kWorthwhile = 0.99;

// Narrows `range`, which comes as the whole observed one (threshold > 0): threshold for the
// symmetric mode (255 levels when min >= 0, else the signed range), low and high for the asymmetric
// one, two-sided.
#define RSHIFT_METHOD(name, text, criterion) \
  void Derive##name(const TensorBins& tensor, const MethodOptions& options, TensorRange& range);
#include "calibrate/methods.def"

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_THRESHOLD_METHODS_H_
