// How steps see an interpolation along at most two dimensions.
#ifndef RSHIFT_RUNTIME_STEPS_RESIZE_SHAPE_H_
#define RSHIFT_RUNTIME_STEPS_RESIZE_SHAPE_H_

#include "runtime/step.h"
#include "runtime/steps/resize_list.h"

namespace rshift {

// dst as [outer, first, between, second, inner], of which first and second are resized; a dimension
// that is not there has one element and no taps.
struct ResizeShape {
  ResizeDimension first, second;  // of dst
  int64_t in_first = 1, in_second = 1;
  int64_t outer = 1, between = 1, inner = 1;
  int64_t positions = 0;  // of dst, of `inner` elements each
};

ResizeShape ReadResizeShape(const StepContext& context);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_RESIZE_SHAPE_H_
