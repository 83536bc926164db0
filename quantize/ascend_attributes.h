// What the CANN documents of AscendQuant and AscendDequant let a user say of a tensor and of a
// layer. NUMERICS.md, profile ascend.
#ifndef RSHIFT_QUANTIZE_ASCEND_ATTRIBUTES_H_
#define RSHIFT_QUANTIZE_ASCEND_ATTRIBUTES_H_

#include <optional>
#include <vector>

#include "isa/functions.h"

namespace rshift {

// AscendQuant of a tensor, besides scale_d and offset_d.
struct AscendQuantAttributes {
  float scale = 0;                         // the attribute itself; 0: 1 / scale_d
  std::optional<RealRounding> round_mode;  // else the variant's
  std::optional<bool> sqrt_mode;           // else where a float16 cannot hold the scale
  std::optional<bool> half_scale;          // scale and offset are float16; else the variant's
  bool empty() const { return *this == AscendQuantAttributes{}; }
  friend bool operator==(const AscendQuantAttributes&, const AscendQuantAttributes&) = default;
};

// AscendDequant of a layer, and where its bias is added.
struct AscendDequantAttributes {
  bool relu_flag = false;   // relu inside AscendDequant, before a float16 bias
  bool half_scale = false;  // deq_scale is float16, not float32 in a uint64
  bool int32_bias = false;  // the bias is the convolution's, not a BiasAdd in float16
  std::optional<bool> sqrt_mode;
  friend bool operator==(const AscendDequantAttributes&, const AscendDequantAttributes&) = default;
};

// `ascend:` of a --config entry: for one Conv2D, DepthwiseConv2D or FullyConnection, with the
// AscendQuant before and the AscendDequant behind it.
struct AscendConfig {
  std::optional<float> scale_d, scale;  // one of them at most
  std::optional<int> offset_d;
  std::vector<float> scale_w;  // empty: by the weights; one, or one for each output channel
  std::optional<RealRounding> round_mode;
  std::optional<bool> sqrt_mode, half_scale;
  std::optional<bool> deq_sqrt_mode, half_deq_scale, relu_flag, int32_bias;
  bool empty() const { return *this == AscendConfig{}; }
  // AscendQuant gets its numbers from here.
  bool GivesScale() const { return scale_d || scale; }
  AscendQuantAttributes Quant() const {
    return {scale.value_or(0.0f), round_mode, sqrt_mode, half_scale};
  }
  AscendDequantAttributes Dequant() const {
    return {relu_flag.value_or(false), half_deq_scale.value_or(false), int32_bias.value_or(false),
            deq_sqrt_mode};
  }
  friend bool operator==(const AscendConfig&, const AscendConfig&) = default;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_ASCEND_ATTRIBUTES_H_
