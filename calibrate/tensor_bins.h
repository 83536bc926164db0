// What the threshold methods read of one tensor: its statistics, their bins and the histograms of
// equal width, each made when the first method asks for it. For one thread.
#ifndef RSHIFT_CALIBRATE_TENSOR_BINS_H_
#define RSHIFT_CALIBRATE_TENSOR_BINS_H_

#include <optional>
#include <vector>

#include "calibrate/linear_histogram.h"
#include "calibrate/statistics.h"

namespace rshift {

class TensorBins {
 public:
  explicit TensorBins(const TensorStatistics& statistics) : statistics_(statistics) {}

  const TensorStatistics& statistics() const { return statistics_; }
  const std::vector<WeightedBin>& bins() const;
  // Of x and of |x|, in kSearchBins.
  const LinearHistogram& both() const;
  const LinearHistogram& absolute() const;

 private:
  const TensorStatistics& statistics_;
  mutable std::optional<std::vector<WeightedBin>> bins_;
  mutable std::optional<LinearHistogram> both_, absolute_;
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_TENSOR_BINS_H_
