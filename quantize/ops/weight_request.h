// What is asked of the weights of a Convolution or MatMul, and what they become.
#ifndef RSHIFT_QUANTIZE_OPS_WEIGHT_REQUEST_H_
#define RSHIFT_QUANTIZE_OPS_WEIGHT_REQUEST_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/ascend_attributes.h"
#include "quantize/onednn_config.h"
#include "quantize/profiles/arithmetic.h"
#include "quantize/types.h"

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

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_WEIGHT_REQUEST_H_
