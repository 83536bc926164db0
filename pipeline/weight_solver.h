// Integers for the weights of one product, chosen by what they change of its outputs.
#ifndef RSHIFT_PIPELINE_WEIGHT_SOLVER_H_
#define RSHIFT_PIPELINE_WEIGHT_SOLVER_H_

#include <cstdint>
#include <span>
#include <vector>

namespace rshift {

// E[x x^T] of the inputs of one group, or any multiple of it: weights that differ by d change an
// output by d^T moments d in the mean square. [n, n], symmetric, row by row.
struct SecondMoments {
  int64_t n = 0;
  std::vector<double> values;
  double At(int64_t a, int64_t b) const { return values[static_cast<size_t>(a * n + b)]; }
};

// d^T moments d of each row of `d` [rows, n].
std::vector<double> SquaredErrors(const SecondMoments& moments, std::span<const double> d);

// The magnitude to clip weights to when `steps` of it stand on either side of 0: the c with the
// least c^2 M / (12 steps^2) + sum_j max(|w_j| - c, 0)^2 m_j, M = sum_j m_j: the mean square that
// rounding and clipping add to an output whose inputs have the mean squares m and no correlation.
// Exact: between two neighbours of the sorted |w| that is a parabola. At most max|w|, which it is
// where no input is ever anything but 0.
double BestClip(std::span<const float> weights, std::span<const double> mean_squares, int steps);

// Rows of weights in units of their scale to integers in [-most, most], so that each row's error
// d^T (moments + damping * mean of the diagonal) d is small: one weight after the other is rounded,
// the largest second moment first, and what rounding has done to the output so far is taken into
// those that follow (OPTQ, Frantar et al. 2210.17323; the same as Babai's nearest plane). The
// undamped error of a row may be above that of rounding each weight by itself. `weights`, and what
// is returned: [rows, n].
std::vector<int8_t> RoundTogether(const SecondMoments& moments, double damping,
                                  std::span<const double> weights, int most = 127);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_WEIGHT_SOLVER_H_
