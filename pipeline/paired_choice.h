// Which of several ways is best, when a few samples are all there is to judge by.
#ifndef RSHIFT_PIPELINE_PAIRED_CHOICE_H_
#define RSHIFT_PIPELINE_PAIRED_CHOICE_H_

#include <cstddef>
#include <functional>
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

// A smaller gain in the outputs' SQNR does not show in what people read from them: by it the
// largest output of squeezenet_1_1 is the float network's less often (docs/bias_correction.md).
inline constexpr double kAutoGainDb = 1;

// What a method without being asked for is kept by: `after` beats `before` beyond chance, and by
// kAutoGainDb at least.
bool WorthKeeping(const std::vector<double>& before, const std::vector<double>& after);

// Every second sample, from the first on or from the second: two halves.
constexpr int kHalves = 2;
// The quality of every sample by what the other half of the samples makes: on its own samples a
// method looks better than it is. quality_by(half): of all samples, by what that half makes.
std::vector<double> HeldOutQuality(size_t samples,
                                   const std::function<std::vector<double>(int half)>& quality_by);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PAIRED_CHOICE_H_
