#include "calibrate/tensor_bins.h"

#include "calibrate/threshold_methods.h"

namespace rshift {

const std::vector<WeightedBin>& TensorBins::bins() const {
  if (!bins_) bins_ = Bins(statistics_);
  return *bins_;
}

const LinearHistogram& TensorBins::both() const {
  if (!both_) both_ = SignedHistogram(statistics_, bins(), kSearchBins);
  return *both_;
}

const LinearHistogram& TensorBins::absolute() const {
  if (!absolute_) absolute_ = AbsoluteHistogram(statistics_, bins(), kSearchBins);
  return *absolute_;
}

}  // namespace rshift
