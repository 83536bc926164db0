// Which of several ways is best, when a few samples are all there is to judge by.
#ifndef RSHIFT_PIPELINE_PAIRED_CHOICE_H_
#define RSHIFT_PIPELINE_PAIRED_CHOICE_H_

#include <cstddef>
#include <span>
#include <vector>

namespace rshift {

double Mean(std::span<const double> values);
// Of the mean; 0 of a single value.
double StandardError(std::span<const double> values);
// Signal to noise of sums of squares in dB, within +-120: no error at all must not outweigh all
// other samples.
double BoundedDecibels(double signal, double error);

// `quality`: of each way, one number (dB) for each sample, in the same order; more is better. The
// first of those that are as good as the way of the best mean: which it beats, sample by sample, by
// no more than one standard error (Breiman et al. 1984, the one-standard-error rule). So the ways
// come in the order in which they are preferred.
size_t FirstAsGoodAsTheBest(const std::vector<std::vector<double>>& quality);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PAIRED_CHOICE_H_
