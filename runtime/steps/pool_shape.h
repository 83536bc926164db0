// The geometry of pooling windows, NHWC: what the steps of max and average pooling share.
#ifndef RSHIFT_RUNTIME_STEPS_POOL_SHAPE_H_
#define RSHIFT_RUNTIME_STEPS_POOL_SHAPE_H_

#include <algorithm>

#include "runtime/kernels/kernels.h"
#include "runtime/step.h"
#include "runtime/steps/rows.h"

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

struct PoolShape {
  int64_t batch, ih, iw, channels, oh, ow;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t pad_top, pad_left, pad_bottom, pad_right;
  int64_t src_pitch, dst_pitch;  // elements from pixel to pixel

  explicit PoolShape(const StepContext& context) {
    const Shape& src = context.Record(Field::kSrc).shape;
    const Shape& dst = context.Record(Field::kDst).shape;
    const Command& c = *context.command;
    batch = src[0], ih = src[1], iw = src[2], channels = src[3], oh = dst[1], ow = dst[2];
    kernel_h = c.Get(Field::kKernelH), kernel_w = c.Get(Field::kKernelW);
    stride_h = c.Get(Field::kStrideH), stride_w = c.Get(Field::kStrideW);
    dilation_h = c.Get(Field::kDilationH), dilation_w = c.Get(Field::kDilationW);
    pad_top = c.Get(Field::kPadTop), pad_left = c.Get(Field::kPadLeft);
    pad_bottom = c.Get(Field::kPadBottom), pad_right = c.Get(Field::kPadRight);
    const auto element = static_cast<int64_t>(SizeOf(context.Record(Field::kSrc).dtype));
    src_pitch = RowPitch(context, Field::kSrc) / element;
    dst_pitch = RowPitch(context, Field::kDst) / element;
  }

  // Calls f(m, c, count, y0, x0, rows, columns) for each output pixel of this thread and block of
  // channels; (y0, x0) is the input position of tap (0, 0), rows and columns the taps inside the
  // image.
  template <typename F>
  void ForEach(const Team& team, const F& f) const {
    const int64_t blocks = (channels + kPoolBlock - 1) / kPoolBlock;
    const Range part = Part(batch * oh * ow * blocks, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t m = item / blocks, c = item % blocks * kPoolBlock;
      const int64_t y0 = m / ow % oh * stride_h - pad_top, x0 = m % ow * stride_w - pad_left;
      f(m, c, std::min(kPoolBlock, channels - c), y0, x0,
        TapsInside(y0, kernel_h, dilation_h, 0, ih), TapsInside(x0, kernel_w, dilation_w, 0, iw));
    }
  }

  // Taps in the image or its pads; those that ceil_mode adds beyond do not count.
  int64_t PaddedTaps(int64_t y0, int64_t x0) const {
    return TapsInside(y0, kernel_h, dilation_h, -pad_top, ih + pad_bottom).count() *
           TapsInside(x0, kernel_w, dilation_w, -pad_left, iw + pad_right).count();
  }

  // Index of the first channel of the input pixel (y, x) of output pixel m's image.
  int64_t Offset(int64_t m, int64_t y, int64_t x) const {
    return ((m / ow / oh * ih + y) * iw + x) * src_pitch;
  }

  // The taps inside the image, for the kernels.
  PoolWindow Window(const uint8_t* src, int64_t m, int64_t c, int64_t y0, int64_t x0,
                    const Taps& rows, const Taps& columns) const {
    return {
        .base = src + c + Offset(m, y0 + rows.begin * dilation_h, x0 + columns.begin * dilation_w),
        .rows = rows.count(),
        .columns = columns.count(),
        .row_step = dilation_h * iw * src_pitch,
        .column_step = dilation_w * src_pitch};
  }
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_POOL_SHAPE_H_
