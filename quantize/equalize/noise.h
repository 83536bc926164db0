// What 8 bits cost a product of constant weights, estimated before anything is quantized.
#ifndef RSHIFT_QUANTIZE_EQUALIZE_NOISE_H_
#define RSHIFT_QUANTIZE_EQUALIZE_NOISE_H_

#include <span>
#include <vector>

#include "quantize/equalize/choose.h"
#include "quantize/equalize/product_weights.h"

namespace rshift {

// What a product whose input and weights are rounded adds to the noise of the network's outputs,
// beside their signal, when channel c of its input is x / 2^exponents[c]. For output channel o, m
// the mean squares of the input channels, T the range of the scaled input over 127, w' weights
// rounded to 127 levels of the largest scaled one:
//   signal_o = sum w^2 m;   noise_o = sum w^2 (T 2^e)^2 / 12 + sum (w - w')^2 m
//   sum over o of relevance_o min(noise_o / signal_o, 1)
double ProductNoise(const Graph& graph, const ProductWeights& product, const ChannelRanges& input,
                    std::span<const int32_t> exponents, std::span<const double> relevance);

// What a function of one element adds by the rounding of its input, in the same units: for channel
// c, x normally distributed with the mean square measured, T and e as above and m the mean square
// measured of its output,
//   noise_c = mean of (f(x + T 2^e / 2) - f(x - T 2^e / 2))^2 / 12
//   sum over c of relevance_c min(noise_c / m_c, 1)
double FunctionNoise(const Unary& function, const ChannelRanges& input, const ChannelRanges& output,
                     std::span<const int32_t> exponents, std::span<const double> relevance);

// For each input channel: its largest weight beside the largest of the same output channel that
// reads a channel which is not always 0.
std::vector<double> WeightShares(const Graph& graph, const ProductWeights& product,
                                 const ChannelRanges& input);

// For each input channel that is always 0, its largest weight beside the largest of the same output
// channel that reads another, both scaled by 2^exponents[c]; 0 for channels that are not always 0.
std::vector<double> DeadWeightExcess(const Graph& graph, const ProductWeights& product,
                                     const ChannelRanges& input,
                                     std::span<const int32_t> exponents);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EQUALIZE_NOISE_H_
