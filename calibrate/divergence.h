// The Kullback-Leibler divergence of a quantized range of a histogram from the histogram: see kl.h.
// Not for use outside calibrate/.
#ifndef RSHIFT_CALIBRATE_DIVERGENCE_H_
#define RSHIFT_CALIBRATE_DIVERGENCE_H_

#include <cstddef>
#include <vector>

#include "calibrate/linear_histogram.h"

namespace rshift {

// Of any range of bins in time proportional to the number of levels: the sum of P log P comes from
// prefix sums, and Q is constant over the occupied bins of a level. The histogram and the error
// must outlive this.
class Divergence {
 public:
  // Estimates are wrong by a thousandth of it.
  static constexpr double kEstimateError = 1e-9;

  Divergence(const LinearHistogram& histogram, const ClipError& error, int levels);
  // When the bins [first, last), at least `levels` of them, are kept. Infinite when they are empty.
  double operator()(size_t first, size_t last);
  // The same but for kEstimateError, several times faster. Its last bits depend on the CPU.
  double Estimate(size_t first, size_t last);

 private:
  double PLogP(double count) const;
  // The sum of P log P.
  double ReferencePart(size_t first, size_t last) const;
  // The sum of P log Q over one level.
  double LevelPart(size_t level, size_t first, size_t last) const;
  void FindEdges(size_t first, size_t last);

  const LinearHistogram& histogram_;
  const ClipError& error_;
  size_t levels_;
  std::vector<double> entropy_;         // prefix sums of P log P
  std::vector<double> occupied_below_;  // prefix counts of non-empty bins
  // Of the range looked at last: the mass and the occupied bins below the first bin of each level,
  // and below the end of the last.
  std::vector<double> mass_, occupied_;
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DIVERGENCE_H_
