// `onednn:` of a --config entry: MKL-DNN's attributes of a convolution or an inner product.
// NUMERICS.md, profile onednn.
#ifndef RSHIFT_QUANTIZE_ONEDNN_CONFIG_H_
#define RSHIFT_QUANTIZE_ONEDNN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/attributes.h"

namespace rshift {

struct OneDnnConfig {
  // Bit d: scales differ along dimension d of dst (N, OC, OH, OW); both lower bits: of the weights,
  // by group and output channel. Only 0, 1 << 1 and (1 << 0) | (1 << 1) are taken.
  int64_t mask = 0;
  std::vector<float> output_scales;  // empty: S_x S_w / S_y; else one (mask 0) or one per channel
  std::vector<PostOp> post_ops;      // behind them, as they are; kSum is the model's Add
  bool real_dst = false;             // dst: f32, the value before any rounding
  bool empty() const { return output_scales.empty() && post_ops.empty() && !real_dst; }
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_ONEDNN_CONFIG_H_
