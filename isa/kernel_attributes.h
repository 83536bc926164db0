// Attributes that kernels read. No code: kernel units, which must not share any, include this.
#ifndef RSHIFT_ISA_KERNEL_ATTRIBUTES_H_
#define RSHIFT_ISA_KERNEL_ATTRIBUTES_H_

#include <cstdint>

#include "isa/functions.h"

namespace rshift {

// A 2-D sliding window over [H, W]. 1-D operators are imported with height 1. The output size is
// that of the output; it may exceed what the pads alone give (ceil_mode).
struct Window {
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  friend bool operator==(const Window&, const Window&);  // attributes.h
};

// What kHalfFloat does behind scale and bias_f: relu, then round(h * quant_scale + quant_offset),
// AscendQuant of an fp16 value (quantize/numerics/half_float.h). Where the result is fp16 itself,
// that is left out.
struct HalfEpilogue {
  bool relu = false;                              // behind bias_f
  bool relu_flag = false;                         // before it: AscendDequant's own
  bool sqrt_dequant = false, sqrt_quant = false;  // the scale is applied twice
  float quant_scale = 1, quant_offset = 0;        // > 0; finite
  RealRounding mode = RealRounding::kEven;
};

}  // namespace rshift

#endif  // RSHIFT_ISA_KERNEL_ATTRIBUTES_H_
