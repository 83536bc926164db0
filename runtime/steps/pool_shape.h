// The geometry of pooling windows, NHWC: what the steps of max and average pooling share.
#ifndef RSHIFT_RUNTIME_STEPS_POOL_SHAPE_H_
#define RSHIFT_RUNTIME_STEPS_POOL_SHAPE_H_

#include <algorithm>

#include "runtime/f32/row_kernels.h"
#include "runtime/kernels/kernels.h"
#include "runtime/step.h"
#include "runtime/steps/flattened_rows.h"

namespace rshift {

inline constexpr int64_t kPoolBlock = 256;  // channels that one pass over the taps serves

// The window's taps along one dimension that lie inside [lo, hi): first and past-the-last tap.
struct Taps {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};

// Taps k in [0, kernel) with lo <= start + k * dilation < hi.
inline Taps TapsInside(int64_t start, int64_t kernel, int64_t dilation, int64_t lo, int64_t hi) {
  const auto first_at_least = [&](int64_t bound) {
    const int64_t distance = bound - start;
    if (distance <= 0) return int64_t{0};
    // Divisions are slow beside a small window's work.
    return std::min(kernel, dilation == 1 ? distance : (distance + dilation - 1) / dilation);
  };
  const int64_t begin = first_at_least(lo);
  return {begin, std::max(begin, first_at_least(hi))};
}

// Some channels of one output pixel.
struct PoolBlock {
  int64_t m = 0, image = 0;  // the pixel, and its image of the batch
  int64_t c = 0, count = 0;  // channels
  int64_t y0 = 0, x0 = 0;    // input position of tap (0, 0)
  Taps rows, columns;        // inside the image
};

struct PoolShape : rshift::Window {
  int64_t batch, ih, iw, channels, oh, ow;
  int64_t src_pitch, dst_pitch;  // elements from pixel to pixel

  PoolShape(const StepContext& context, const rshift::Window& window) : rshift::Window(window) {
    const Shape& src = context.Record(Field::kSrc).shape;
    const Shape& dst = context.Record(Field::kDst).shape;
    batch = src[0], ih = src[1], iw = src[2], channels = src[3], oh = dst[1], ow = dst[2];
    const auto element = static_cast<int64_t>(SizeOf(context.Record(Field::kSrc).dtype));
    src_pitch = RowPitch(context, Field::kSrc) / element;
    dst_pitch = RowPitch(context, Field::kDst) / element;
  }

  // Calls f(const PoolBlock&) for each output pixel of this thread and block of channels.
  template <typename F>
  void ForEach(const Team& team, const F& f) const {
    const int64_t blocks = (channels + kPoolBlock - 1) / kPoolBlock;
    const Range part = ThreadRange(batch * oh * ow * blocks, 1, team);
    if (part.begin == part.end) return;
    PoolBlock b;
    b.m = part.begin / blocks, b.c = part.begin % blocks * kPoolBlock;
    int64_t x = b.m % ow, y = b.m / ow % oh;
    b.image = b.m / ow / oh;
    SetRow(y, &b);
    SetColumn(x, &b);
    for (int64_t item = part.begin; item < part.end; ++item) {
      b.count = std::min(kPoolBlock, channels - b.c);
      f(b);
      // Counted, not divided: six divisions are as slow as a small window's work.
      b.c += kPoolBlock;
      if (b.c < channels) continue;
      b.c = 0;
      ++b.m;
      if (++x == ow) {
        x = 0;
        if (++y == oh) y = 0, ++b.image;
        SetRow(y, &b);
      }
      SetColumn(x, &b);
    }
  }

  // Taps in the image or its pads; those that ceil_mode adds beyond do not count.
  int64_t PaddedTaps(int64_t y0, int64_t x0) const {
    return TapsInside(y0, kernel_h, dilation_h, -pad_top, ih + pad_bottom).count() *
           TapsInside(x0, kernel_w, dilation_w, -pad_left, iw + pad_right).count();
  }

  // Index of the first channel of the input pixel (y, x).
  int64_t Offset(int64_t image, int64_t y, int64_t x) const {
    return ((image * ih + y) * iw + x) * src_pitch;
  }

  // The taps inside the image, for the kernels.
  PoolWindow Window(const uint8_t* src, const PoolBlock& b) const {
    return {.base = src + b.c +
                    Offset(b.image, b.y0 + b.rows.begin * dilation_h,
                           b.x0 + b.columns.begin * dilation_w),
            .rows = b.rows.count(),
            .columns = b.columns.count(),
            .row_step = dilation_h * iw * src_pitch,
            .column_step = dilation_w * src_pitch};
  }
  // The same of floats.
  f32::FloatWindow FloatWindow(const float* src, const PoolBlock& b) const {
    return {
        .x = src + b.c +
             Offset(b.image, b.y0 + b.rows.begin * dilation_h, b.x0 + b.columns.begin * dilation_w),
        .rows = b.rows.count(),
        .columns = b.columns.count(),
        .row_step = dilation_h * iw * src_pitch,
        .column_step = dilation_w * src_pitch,
        .lanes = b.count};
  }

 private:
  void SetRow(int64_t y, PoolBlock* b) const {
    b->y0 = y * stride_h - pad_top;
    b->rows = TapsInside(b->y0, kernel_h, dilation_h, 0, ih);
  }
  void SetColumn(int64_t x, PoolBlock* b) const {
    b->x0 = x * stride_w - pad_left;
    b->columns = TapsInside(b->x0, kernel_w, dilation_w, 0, iw);
  }
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_POOL_SHAPE_H_
