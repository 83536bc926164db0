// Quantized weights, folded biases and requantization records of Convolution and MatMul.
#ifndef RSHIFT_QUANTIZE_OPS_WEIGHTS_H_
#define RSHIFT_QUANTIZE_OPS_WEIGHTS_H_

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/emitter.h"

namespace rshift {

// Element (channel, k) of the weights is at channel * channel_stride + k * k_stride.
struct WeightRequest {
  std::string node;  // for messages
  std::span<const float> weights;
  std::span<const float> bias;  // empty or one per channel
  int64_t channels = 0, k = 0;
  int64_t channel_stride = 0, k_stride = 1;
  IntType x, y;
  bool x_is_zero = false;  // calibration saw only zeros in x: the output is the bias
  bool per_channel = true;
};

struct QuantizedWeights {
  std::vector<int8_t> weights;  // in [-127, 127], in the order of the request's
  std::vector<ChannelRequant> channels;
};

// S_w = max|w| / 127; bias = round(B / (S_x S_w)) - Z_x sum(q_w); Multiplier / 2^rshift = S_x S_w /
// S_y. Every accumulator fits: |bias| + 255 sum|q_w| < 2^31; a channel that breaks the bound gets a
// larger S_w and an entry in the report. Throws kInvalidInput when a weight or bias is not finite.
QuantizedWeights QuantizeWeights(const WeightRequest& request, QuantizeReport* report);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_WEIGHTS_H_
