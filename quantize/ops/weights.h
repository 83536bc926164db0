// Quantized weights, folded biases and requantization records of Convolution and MatMul.
#ifndef RSHIFT_QUANTIZE_OPS_WEIGHTS_H_
#define RSHIFT_QUANTIZE_OPS_WEIGHTS_H_

#include "quantize/ops/weight_request.h"
#include "quantize/report.h"

namespace rshift {

// With scales_w: q_w = round(w / S_w) in [-128, 127]; a channel that breaks the bound below is an
// error. Otherwise:
//
// S_w = max|w| / 127, q_w in [-127, 127] (of 4 bits 7 in place of 127); bias = round(B / (S_x S_w))
// - Z_x sum(q_w); multiplier and shift by the profile. Every accumulator fits: |bias| + 255
// sum|q_w| < 2^31; a channel that breaks the bound gets a larger S_w and an entry in the report.
// Throws kInvalidInput when a weight or bias is not finite.
//
// The integers of a QDQ model are never changed: s8 as they are, u8 minus 128 (of 4 bits minus 8)
// with their zero points; an s32 bias whose scale is S_x S_w (to a relative 2^-16, in which
// exporters differ) as it is, folded with - Z_x sum(q_w - Z_w). A channel that breaks |bias| + 255
// sum|q_w - Z_w| < 2^31 is an error that names it; with scaled_here it gets a larger S_w and an
// entry in the report.
QuantizedWeights QuantizeWeights(const WeightRequest& request, QuantizeReport* report);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_WEIGHTS_H_
