// The list of a resize command (isa/ops/resize.h): the taps of each dimension.
#ifndef RSHIFT_RUNTIME_STEPS_RESIZE_LIST_H_
#define RSHIFT_RUNTIME_STEPS_RESIZE_LIST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/shape.h"

namespace rshift {

struct ResizeDimension {
  int64_t size = 1;                // of dst
  int taps = 0;                    // of an output index; 0: the dimension is not resized
  std::span<const int32_t> pairs;  // size * taps times index, coefficient
};

// One for each dimension of dst. Empty where the list is not as long as it says, or its numbers of
// taps are not 0 to 4.
inline std::vector<ResizeDimension> ReadResizeList(std::span<const int32_t> list,
                                                   const Shape& dst) {
  std::vector<ResizeDimension> dims;
  size_t at = dst.size();
  if (list.size() < at) return {};
  for (size_t d = 0; d < dst.size(); ++d) {
    const int taps = list[d];
    if (taps < 0 || taps > 4) return {};
    // No product overflows: dst has no dimension beyond 2^40.
    const int64_t count = 2 * taps * dst[d];
    if (count > static_cast<int64_t>(list.size() - at)) return {};
    dims.push_back({dst[d], taps, list.subspan(at, static_cast<size_t>(count))});
    at += static_cast<size_t>(count);
  }
  return at == list.size() ? dims : std::vector<ResizeDimension>{};
}

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_RESIZE_LIST_H_
