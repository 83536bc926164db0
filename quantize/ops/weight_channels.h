// One output channel of quantized weights: its integers, its folded bias, how large its accumulator
// may get, and the words that requantize it.
#ifndef RSHIFT_QUANTIZE_OPS_WEIGHT_CHANNELS_H_
#define RSHIFT_QUANTIZE_OPS_WEIGHT_CHANNELS_H_

#include <cstdint>
#include <vector>

#include "quantize/ops/weight_request.h"
#include "quantize/report.h"

namespace rshift {

struct WeightChannel {
  std::vector<int8_t> weights;
  double bias = 0;       // round(B / (Sx Sw)) - Zx sum(q): an integer, perhaps too large for int32
  double magnitude = 0;  // of the accumulator
};

// How large an accumulator may get, and how large it gets. Of 16-bit inputs: NUMERICS.md section
// 29; the bias fits int32 all the same.
double LimitOf(const WeightRequest& r);
double MostOf(const WeightRequest& r, double bias, double magnitudes);

// As the request has it, 0 without one. Throws kInvalidInput where it is not finite.
double BiasOf(const WeightRequest& r, int64_t channel);
// In units of S_x S_w.
double IntegerBias(const WeightRequest& r, float scale, double bias);

// The floats of a channel at a scale; zero: all weights are 0.
WeightChannel QuantizeChannel(const WeightRequest& r, int64_t channel, float scale, double bias,
                              bool zero);

// What the profile's arithmetic asks for.
LinearLayer LayerOf(const WeightRequest& r, bool per_channel);
ChannelRequant RecordOf(const WeightRequest& r, int64_t channel, const WeightChannel& quantized,
                        LinearLayer layer, float scale, double bias, QuantizeReport* report);
// The words of accumulators below 0.
RequantWords NegativeWords(const WeightRequest& r, int64_t channel, LinearLayer layer, float scale);

void ReportRaisedScale(const WeightRequest& r, int64_t channel, float before, float after,
                       QuantizeReport* report);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_WEIGHT_CHANNELS_H_
