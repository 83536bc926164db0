// One dimension of a sliding window over NHWC images.
#ifndef RSHIFT_RUNTIME_ONEDNN_WINDOW_AXIS_H_
#define RSHIFT_RUNTIME_ONEDNN_WINDOW_AXIS_H_

#include "isa/attributes.h"
#include "runtime/step.h"

namespace rshift::f32 {

struct WindowAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0;
};

inline WindowAxis VerticalAxis(const StepContext& context, const Window& w) {
  return {context.Record(Field::kSrc).shape[1],
          context.Record(Field::kDst).shape[1],
          w.kernel_h,
          w.stride_h,
          w.dilation_h,
          w.pad_top,
          w.pad_bottom};
}

inline WindowAxis HorizontalAxis(const StepContext& context, const Window& w) {
  return {context.Record(Field::kSrc).shape[2],
          context.Record(Field::kDst).shape[2],
          w.kernel_w,
          w.stride_w,
          w.dilation_w,
          w.pad_left,
          w.pad_right};
}

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_ONEDNN_WINDOW_AXIS_H_
