// oneDNN's output scales. The arithmetic itself is float_scale.h and post_ops.h. NUMERICS.md,
// profile onednn. Source: the primitive attributes of the MKL-DNN 1.0 documentation.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ONEDNN_H_
#define RSHIFT_QUANTIZE_NUMERICS_ONEDNN_H_

#include <cstdint>
#include <span>

#include "base/error.h"

namespace rshift::numerics {

// Output scales of a primitive: mask bit d set means that the scales vary along dimension d of the
// tensor they are for. dst [N, C, H, W] of a convolution: 0 is one scale, 1 << 1 one for each
// output channel; weights [G, OC / G, ...]: (1 << 0) | (1 << 1) one for each group and channel.
inline constexpr int kMaskCommon = 0;
inline constexpr int kMaskDstChannel = 1 << 1;
inline constexpr int kMaskGroupChannel = (1 << 0) | (1 << 1);

// The scale of output channel `channel` (0 .. count - 1, groups outermost) in the vector that a
// mask describes. Throws kInvalidInput for a mask that no channel scale has and a wrong number of
// scales.
inline float OutputScale(int mask, std::span<const float> scales, int64_t channel, int64_t count) {
  RSHIFT_REQUIRE(mask == kMaskCommon || mask == kMaskDstChannel || mask == kMaskGroupChannel,
                 ErrorCode::kInvalidInput, "output scales: mask is ", mask, ", expected ",
                 kMaskCommon, " (one), ", kMaskDstChannel, " (a channel) or ", kMaskGroupChannel,
                 " (a group and channel)");
  const int64_t expected = mask == kMaskCommon ? 1 : count;
  RSHIFT_REQUIRE(static_cast<int64_t>(scales.size()) == expected, ErrorCode::kInvalidInput,
                 "output scales: ", scales.size(), " numbers for mask ", mask, ", expected ",
                 expected);
  return scales[mask == kMaskCommon ? 0 : channel];
}

// S_x S_w / S_y in binary32, product first, as the documentation's workflow computes it.
inline constexpr float OutputScaleOf(float scale_x, float scale_w, float scale_y) {
  const float product = scale_x * scale_w;
  return product / scale_y;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ONEDNN_H_
