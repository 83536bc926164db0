// Clipping ranges of least Kullback-Leibler divergence. Not for use outside calibrate/ and its
// tests.
//
// The reference P is the histogram of the non-zero values in 4096 equal bins with what lies outside
// the kept range added to the edge bins. Q is what a quantizer with the given number of levels
// leaves: the kept mass of each level, spread evenly over its occupied bins. (S. Migacz, "8-bit
// inference with TensorRT", GTC 2017.) Alone that clips too hard where few values are large and
// matter, as in logits, or where nearly all are close to zero. Two bounds keep it honest:
//   - at least 99.9 % of the non-zero values stay inside;
//   - the squared error of clipping and rounding together is at most the geometric mean of the
//   least one that
//     any range reaches and that of no clipping.
// Zeros are left out: every quantizer holds them exactly. Equal divergence: the wider range.
#ifndef RSHIFT_CALIBRATE_KL_H_
#define RSHIFT_CALIBRATE_KL_H_

#include "calibrate/tensor_bins.h"

namespace rshift {

// In (0, max |x|]; 0 for a tensor of zeros. levels: into how many parts what
// is kept is divided.
double KlThreshold(const TensorBins& tensor, int levels);

struct ClipRange {
  double low = 0, high = 0;  // observed minimum <= low <= high <= observed maximum
};
// Two-sided, coarse to fine. A side on which nothing lies beyond zero keeps its observed end.
ClipRange KlRange(const TensorBins& tensor, int levels);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_KL_H_
