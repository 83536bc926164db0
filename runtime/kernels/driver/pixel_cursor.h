// Output pixels in order.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_PIXEL_CURSOR_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_PIXEL_CURSOR_H_

#include <cstdint>

namespace rshift {
namespace {

struct PixelCursor {
  int64_t batch, y, x;
};

inline PixelCursor CursorAt(int64_t m, int64_t oh, int64_t ow) {
  return {m / ow / oh, m / ow % oh, m % ow};
}

inline void Advance(PixelCursor& p, int64_t oh, int64_t ow) {
  if (++p.x < ow) return;
  p.x = 0;
  if (++p.y < oh) return;
  p.y = 0;
  ++p.batch;
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_PIXEL_CURSOR_H_
