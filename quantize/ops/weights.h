// Quantized weights, folded biases and requantization records of Convolution and MatMul.
#ifndef RSHIFT_QUANTIZE_OPS_WEIGHTS_H_
#define RSHIFT_QUANTIZE_OPS_WEIGHTS_H_

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {

// Element (channel, k) of the weights is at channel * channel_stride + k * k_stride.
struct WeightRequest {
  std::string node;  // for messages
  std::span<const float> weights;
  std::span<const float> bias;  // empty or one per channel
  // The integers that a QDQ model holds; null: `weights`, `bias` are quantized.
  const QuantizedOrigin* weights_origin = nullptr;
  const QuantizedOrigin* bias_origin = nullptr;
  bool scaled_here = false;  // the integers were made of `weights` by QuantizeOptions' scales
  int64_t channel_axis = 0;  // of the weights' shape: along which scales may differ
  int64_t channels = 0, k = 0;
  int64_t channel_stride = 0, k_stride = 1;
  IntType x, y;
  bool x_is_zero = false;  // calibration saw only zeros in x: the output is the bias
  bool per_channel = true;
  int weight_bits = 8;            // or 4, of weights that have no integers yet
  std::vector<float> scales_w{};  // given from outside: one, or one per channel; empty: by max|w|
  // MKL-DNN's output scales and post-operations, taken as they are; one scale, or one per channel.
  OneDnnConfig onednn{};
  AscendDequantAttributes ascend{};
  int multiplier_bits = 32;  // Target::conv_multiplier_bits, but 32 of a model's own
  LinearKind kind = LinearKind::kGeneral;
  bool depth_multiplier = false;  // LinearLayer's
  Clamp clamp;
  std::vector<RealPostOp> post_ops{};
  std::vector<float> slopes{};  // FusedPostOps::slopes
  const Arithmetic* arithmetic = &TpuArithmetic();
};

struct QuantizedWeights {
  std::vector<int8_t> weights;  // in the order of the request's
  std::vector<float> scales;    // one per channel
  int bits = 8;                 // 4: all weights are in [-8, 7]
  QLinear linear;
};

// What Conv and MatMul have in common: weights, bias, their origins, types and options of a node.
WeightRequest RequestOf(Emitter& emitter, const Node& node);
// The integer operator of a Conv or MatMul: x, weights and the addend of a fused sum in, its output
// out. `clamp`: the node's own, which an fp16 result may need an operator for.
void AddLinearNode(Emitter& emitter, const Node& node, Op op, ValueId x, ValueId weights,
                   const Clamp& clamp);

// kInternal where accumulators below 0 have words of their own, which those of 16-bit inputs never
// have.
void RequireOneFactor(const Node& node, const QLinear& linear);

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
