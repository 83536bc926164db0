// Where the pixels of a register tile read: one pointer for each pixel and tap.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_INDIRECTION_BUFFER_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_INDIRECTION_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/driver/output_partition.h"
#include "runtime/kernels/driver/pixel_cursor.h"
#include "runtime/kernels/driver/stem_im2col.h"
#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

// Bytes from the first tap of a window to each of them.
inline void FillTapOffsets(const Window& w, int64_t iw, int64_t pitch, int64_t* offsets) {
  for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
      *offsets++ = (ky * w.dilation_h * iw + kx * w.dilation_w) * pitch;
    }
  }
}

// rows[tap * stride] for one pixel of Args = ConvArgs or DepthwiseArgs, under the taps of `w`.
// `offsets`: FillTapOffsets.
template <typename Args>
void FillTaps(const Args& args, const Window& w, const PixelCursor& p, const int64_t* offsets,
              const uint8_t** rows, int64_t stride) {
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

// What the pixels of one tile after the other read; kKept pointers are kept for each tap.
template <int kKept>
class IndirectionBuffer {
  static_assert(kKept <= StemIm2col::kMost);

 public:
  // `memory`: Bytes().
  IndirectionBuffer(const ConvArgs& args, void* memory)
      : args_(args),
        rows_(static_cast<const uint8_t**>(memory)),
        offsets_(reinterpret_cast<int64_t*>(rows_ + Taps(args) * kKept)),
        gaps_(offsets_ + Taps(args)),
        im2col_(args, reinterpret_cast<uint8_t*>(gaps_ + Taps(args))) {
    if (args.stem_im2col || args.pointwise) offsets_[0] = gaps_[0] = 0;
  }
  static size_t Bytes(const ConvArgs& args) {
    return static_cast<size_t>(Taps(args) * (kKept + 2) * int64_t{8}) +
           (args.stem_im2col ? StemIm2col::Bytes(args) : 0);
  }

  int64_t taps() const { return args_.stem_im2col || args_.pointwise ? 1 : taps_.count(); }
  const uint8_t* const* rows() const { return rows_; }
  // The place of the first tap's weights in the packed K, and what lies between those of each tap
  // and the next.
  int64_t first_k() const { return first_k_; }
  const int64_t* gaps() const { return gaps_; }

  // The pixels of `run` come next.
  void Start(const PixelRun& run) {
    if (args_.pointwise) return;
    if (args_.stem_im2col) return im2col_.StartAt(run.first, run.first + run.count);
    if (run.taps != taps_) SetTaps(run.taps);
    next_ = CursorAt(run.first, args_.oh, args_.ow);
    vertical_ = run.vertical;
  }
  // The next `count`, from pixel m on.
  void Fill(int64_t m, int count) {
    if (args_.pointwise) return FillEvenly(args_.src + m * args_.src_pitch, args_.src_pitch);
    if (args_.stem_im2col) return FillIm2col(m, count);
    FillWindows(count);
  }

 private:
  static int64_t Taps(const ConvArgs& args) {
    return args.stem_im2col ? 1 : args.window.kernel_h * args.window.kernel_w;
  }
  // A window of those taps alone; its pads may be below 0.
  void SetTaps(const LiveTaps& taps) {
    taps_ = taps;
    window_ = args_.window;
    window_.pad_top -= taps.rows.begin * window_.dilation_h;
    window_.pad_left -= taps.columns.begin * window_.dilation_w;
    window_.kernel_h = taps.rows.size();
    window_.kernel_w = taps.columns.size();
    FillTapOffsets(window_, args_.iw, args_.src_pitch, offsets_);
    const int64_t of_row = args_.window.kernel_w * args_.ic4, live = window_.kernel_w * args_.ic4;
    first_k_ = taps.rows.begin * of_row + taps.columns.begin * args_.ic4;
    // Behind the last tap of a row.
    for (int64_t tap = 0, column = 1; tap < taps.count(); ++tap, ++column) {
      gaps_[tap] = column < window_.kernel_w ? 0 : of_row - live;
      if (column == window_.kernel_w) column = 0;
    }
    inside_y_ = OutputsInside(args_.ih, window_.kernel_h, window_.dilation_h, window_.stride_h,
                              window_.pad_top);
    inside_x_ = OutputsInside(args_.iw, window_.kernel_w, window_.dilation_w, window_.stride_w,
                              window_.pad_left);
  }
  // First all pixels as if they were inside, then what lies outside: few pixels of few tiles.
  void FillWindows(int count) {
    const int64_t ow = args_.ow, oh = args_.oh, step = window_.stride_w * args_.src_pitch;
    const uint8_t* here = First(next_);
    if (vertical_) {
      next_.y += count;
      return FillEvenly(here, window_.stride_h * args_.iw * args_.src_pitch);
    }
    if (inside_y_.Has(next_.y) && inside_x_.Has(next_.x) && next_.x + count <= inside_x_.end) {
      next_.x += count - 1;
      Advance(next_, oh, ow);
      return FillEvenly(here, step);
    }
    const uint8_t* first[kKept];
    PixelCursor at = next_;
    for (int r = 0; r < kKept; ++r, here += step) {  // those past the tile's are not used
      first[r] = here;
      Advance(at, oh, ow);
      if (at.x == 0) here = First(at) - step;
    }
    const int64_t taps = taps_.count();
    const int64_t* offsets = offsets_;
    const uint8_t** rows = rows_;
    for (int64_t tap = 0; tap < taps; ++tap, rows += kKept) {
      for (int r = 0; r < kKept; ++r) rows[r] = first[r] + offsets[tap];
    }
    for (int r = 0; r < count; ++r) {
      if (!inside_y_.Has(next_.y) || !inside_x_.Has(next_.x))
        FillTaps(args_, window_, next_, offsets_, rows_ + r, kKept);
      Advance(next_, oh, ow);
    }
  }
  // The first of the taps of a pixel; may lie before the image.
  const uint8_t* First(const PixelCursor& p) const {
    const int64_t x = p.x * window_.stride_w - window_.pad_left;
    const int64_t y = p.y * window_.stride_h - window_.pad_top;
    return args_.src + ((p.batch * args_.ih + y) * args_.iw + x) * args_.src_pitch;
  }
  [[gnu::noinline]] void FillIm2col(int64_t m, int count) {
    im2col_.Fill(m, count);
    if (im2col_.AreEven(m, kKept)) return FillEvenly(im2col_.Row(m), args_.k);
    for (int r = 0; r < count; ++r) rows_[r] = im2col_.Row(m + r);
  }
  // Pixel after pixel `step` bytes on. Pointers past the tile's pixels are not used.
  void FillEvenly(const uint8_t* first, int64_t step) {
    // Locals: a pointer that is stored might be a member, for all the compiler knows.
    const int64_t taps = this->taps();
    const int64_t* offsets = offsets_;
    const uint8_t** rows = rows_;
    for (int64_t tap = 0; tap < taps; ++tap, rows += kKept) {
      const uint8_t* at = first + offsets[tap];
      for (int r = 0; r < kKept; ++r) rows[r] = at + r * step;
    }
  }

  const ConvArgs& args_;
  const uint8_t** rows_;
  int64_t *offsets_, *gaps_;
  StemIm2col im2col_;
  LiveTaps taps_ = {{-1, -1}, {}};  // none yet
  int64_t first_k_ = 0;
  Window window_ = {};        // of those taps
  Span inside_y_, inside_x_;  // output rows and columns under which window_ lies inside
  PixelCursor next_ = {};
  bool vertical_ = false;
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_INDIRECTION_BUFFER_H_
