// Where the pixels of a register tile read: one pointer for each pixel and tap. Included by kernel
// units only (see conv_driver.h).
#ifndef RSHIFT_RUNTIME_KERNELS_CONV_ROWS_H_
#define RSHIFT_RUNTIME_KERNELS_CONV_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/conv_windows.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/pixel_cursor.h"

namespace rshift {
namespace {

// Bytes from the first tap of a window to each of them.
inline void FillTapOffsets(const WindowArgs& w, int64_t iw, int64_t pitch, int64_t* offsets) {
  for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
      *offsets++ = (ky * w.dilation_h * iw + kx * w.dilation_w) * pitch;
    }
  }
}

// rows[tap * stride] for one pixel of Args = ConvArgs or DepthwiseArgs. `offsets`: FillTapOffsets.
template <typename Args>
void FillTaps(const Args& args, const PixelCursor& p, const int64_t* offsets, const uint8_t** rows,
              int64_t stride) {
  const WindowArgs& w = args.window;
  const int64_t taps = w.kernel_h * w.kernel_w;
  const int64_t x0 = p.x * w.stride_w - w.pad_left, y0 = p.y * w.stride_h - w.pad_top;
  const bool inside = x0 >= 0 && x0 + (w.kernel_w - 1) * w.dilation_w < args.iw && y0 >= 0 &&
                      y0 + (w.kernel_h - 1) * w.dilation_h < args.ih;
  // Locals, not members: a pointer that is stored might be one of theirs, for all the compiler
  // knows. May point before the image: only taps inside are taken from it.
  const uint8_t* first = args.src + ((p.batch * args.ih + y0) * args.iw + x0) * args.src_pitch;
  if (inside) {
    for (int64_t tap = 0; tap < taps; ++tap, rows += stride) *rows = first + offsets[tap];
    return;
  }
  const uint8_t* zero_row = args.zero_row;
  const int64_t iw = args.iw, dilation_w = w.dilation_w, kernel_w = w.kernel_w;
  for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
    const int64_t y = y0 + ky * w.dilation_h;
    const bool row_inside = y >= 0 && y < args.ih;
    for (int64_t kx = 0; kx < kernel_w; ++kx, rows += stride, ++offsets) {
      const int64_t x = x0 + kx * dilation_w;
      *rows = row_inside && x >= 0 && x < iw ? first + *offsets : zero_row;
    }
  }
}

// Output positions [first, last] of one dimension whose windows lie inside the image.
struct InsideRange {
  int64_t first, last;

  InsideRange(int64_t size, int64_t kernel, int64_t dilation, int64_t stride, int64_t pad) {
    const int64_t room = size - 1 - (kernel - 1) * dilation + pad;
    first = (pad + stride - 1) / stride;
    last = room < 0 ? -1 : room / stride;
  }
  bool Has(int64_t i) const { return i >= first && i <= last; }
};

// What the pixels of one tile after the other read; kKept pointers are kept for each tap.
template <int kKept>
class RowLists {
  static_assert(kKept <= GatheredWindows::kMost);

 public:
  // `memory`: Bytes().
  RowLists(const ConvArgs& args, void* memory)
      : args_(args),
        taps_(Taps(args)),
        rows_(static_cast<const uint8_t**>(memory)),
        offsets_(reinterpret_cast<int64_t*>(rows_ + taps_ * kKept)),
        inside_y_(args.ih, args.window.kernel_h, args.window.dilation_h, args.window.stride_h,
                  args.window.pad_top),
        inside_x_(args.iw, args.window.kernel_w, args.window.dilation_w, args.window.stride_w,
                  args.window.pad_left),
        windows_(args, reinterpret_cast<uint8_t*>(offsets_ + taps_)) {
    if (args.gathers) {
      offsets_[0] = 0;
    } else {
      FillTapOffsets(args.window, args.iw, args.src_pitch, offsets_);
    }
  }
  static int64_t Taps(const ConvArgs& args) {
    return args.gathers ? 1 : args.window.kernel_h * args.window.kernel_w;
  }
  static size_t Bytes(const ConvArgs& args) {
    return static_cast<size_t>(Taps(args) * (kKept + 1) * int64_t{8}) +
           (args.gathers ? GatheredWindows::Bytes(args) : 0);
  }

  int64_t taps() const { return taps_; }
  const uint8_t* const* rows() const { return rows_; }
  // Pixels [m, end) come next.
  void StartAt(int64_t m, int64_t end) {
    if (args_.gathers) {
      windows_.StartAt(m, end);
    } else {
      next_ = CursorAt(m, args_.oh, args_.ow);
    }
  }
  // Pixels [m, m + count), which follow the last ones.
  void Fill(int64_t m, int count) {
    if (args_.pointwise) return FillEvenly(args_.src + m * args_.src_pitch, args_.src_pitch);
    if (args_.gathers) return FillGathered(m, count);
    FillWindows(count);
  }

 private:
  // First all pixels as if they were inside, then what lies outside: few pixels of few tiles.
  void FillWindows(int count) {
    const WindowArgs& w = args_.window;
    const int64_t ow = args_.ow, oh = args_.oh, step = w.stride_w * args_.src_pitch;
    const uint8_t* first[kKept];
    PixelCursor at = next_;
    const bool even =
        inside_y_.Has(at.y) && inside_x_.Has(at.x) && at.x + count - 1 <= inside_x_.last;
    const uint8_t* here = First(at);
    if (even) {
      next_.x += count - 1;
      Advance(next_, oh, ow);
      return FillEvenly(here, step);
    }
    for (int r = 0; r < kKept; ++r, here += step) {  // those past the tile's are not used
      first[r] = here;
      Advance(at, oh, ow);
      if (at.x == 0) here = First(at) - step;
    }
    const int64_t taps = taps_;
    const int64_t* offsets = offsets_;
    const uint8_t** rows = rows_;
    for (int64_t tap = 0; tap < taps; ++tap, rows += kKept) {
      for (int r = 0; r < kKept; ++r) rows[r] = first[r] + offsets[tap];
    }
    for (int r = 0; r < count; ++r) {
      if (!inside_y_.Has(next_.y) || !inside_x_.Has(next_.x))
        FillTaps(args_, next_, offsets_, rows_ + r, kKept);
      Advance(next_, oh, ow);
    }
  }
  // Tap (0, 0) of a pixel; may lie before the image.
  const uint8_t* First(const PixelCursor& p) const {
    const WindowArgs& w = args_.window;
    const int64_t x = p.x * w.stride_w - w.pad_left, y = p.y * w.stride_h - w.pad_top;
    return args_.src + ((p.batch * args_.ih + y) * args_.iw + x) * args_.src_pitch;
  }
  [[gnu::noinline]] void FillGathered(int64_t m, int count) {
    windows_.Make(m, count);
    if (windows_.AreEven(m, kKept)) return FillEvenly(windows_.Row(m), args_.k);
    for (int r = 0; r < count; ++r) rows_[r] = windows_.Row(m + r);
  }
  // Pixel after pixel `step` bytes on. Pointers past the tile's pixels are not used.
  void FillEvenly(const uint8_t* first, int64_t step) {
    // Locals: a pointer that is stored might be a member, for all the compiler knows.
    const int64_t taps = taps_;
    const int64_t* offsets = offsets_;
    const uint8_t** rows = rows_;
    for (int64_t tap = 0; tap < taps; ++tap, rows += kKept) {
      const uint8_t* at = first + offsets[tap];
      for (int r = 0; r < kKept; ++r) rows[r] = at + r * step;
    }
  }

  const ConvArgs& args_;
  int64_t taps_;
  const uint8_t** rows_;
  int64_t* offsets_;
  InsideRange inside_y_, inside_x_;
  GatheredWindows windows_;
  PixelCursor next_ = {};
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_CONV_ROWS_H_
