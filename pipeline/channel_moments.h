// What a layer's integer accumulators have to do with the float sums that they stand for.
#ifndef RSHIFT_PIPELINE_CHANNEL_MOMENTS_H_
#define RSHIFT_PIPELINE_CHANNEL_MOMENTS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "pipeline/bias_layers.h"
#include "pipeline/input_gram.h"

namespace rshift {

// Sums over the positions of one output channel: y the product's sum in floats, u in integers
// (the accumulator without bias, exactly), both before activation.
struct ChannelMoments {
  double count = 0, y = 0, u = 0, yu = 0, uu = 0;
};

// Of one run, by output channel. `x`, `integers`: what the layer reads in the float and in the
// integer program; `rows`: WindowRowsOf the layer's node.
std::vector<ChannelMoments> MomentsOf(const BiasLayer& layer, const WindowRows& rows,
                                      std::span<const float> x,
                                      std::span<const std::byte> integers);

// The factor a by which the accumulators come nearest to the float sums (least squares, with a
// constant that a bias takes): Cov(y, u) / Var(u) / unit, over all samples, u * unit being the
// accumulators as reals. `samples`: of each sample, the channel's. What chance would bring, twice
// the standard error over the samples, is taken off (as of a mean in bias_correction.cc). 1 where
// that is all, and where a is no scale's error but a lost channel's: below 1/2, above 2.
double SlopeOf(std::span<const ChannelMoments> samples, double unit);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CHANNEL_MOMENTS_H_
