#include "runtime/steps/resize_shape.h"

#include <utility>

#include "base/shape.h"

namespace rshift {

ResizeShape ReadResizeShape(const StepContext& context) {
  const Shape &src = context.Record(Field::kSrc).shape, &dst = context.Record(Field::kDst).shape;
  ResizeShape shape;
  if (NumElements(dst) == 0) return shape;
  const auto size = static_cast<size_t>(NumElements(context.Record(Field::kList).shape));
  int resized = 0;
  const auto dims = ReadResizeList({context.In<int32_t>(Field::kList), size}, dst);
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d].taps == 0) {
      int64_t& part = resized == 0 ? shape.inner : resized == 1 ? shape.between : shape.outer;
      part *= dst[d];
      continue;
    }
    (resized == 0 ? shape.second : shape.first) = dims[d];
    (resized == 0 ? shape.in_second : shape.in_first) = src[d];
    ++resized;
  }
  if (resized < 2) std::swap(shape.outer, shape.between);
  shape.positions = NumElements(dst) / shape.inner;
  return shape;
}

}  // namespace rshift
