// oneDNN's output scales. The arithmetic itself is float_scale.h and post_ops.h. NUMERICS.md,
// profile onednn. Source: the primitive attributes of the MKL-DNN 1.0 documentation.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ONEDNN_H_
#define RSHIFT_QUANTIZE_NUMERICS_ONEDNN_H_

namespace rshift::numerics {

// S_x S_w / S_y in binary32, product first, as the documentation's workflow computes it.
inline constexpr float OutputScaleOf(float scale_x, float scale_w, float scale_y) {
  const float product = scale_x * scale_w;
  return product / scale_y;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ONEDNN_H_
