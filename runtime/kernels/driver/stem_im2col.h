// Windows of few channels (ConvArgs::stem_im2col): the bytes that a pixel's window covers are
// copied into one row, [kernel_h][kernel_w][ic], and multiplied as one tap.
//
// A load that spans two stores waits until both have left the store queue. Rows are therefore made
// well before they are read, in a ring.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_STEM_IM2COL_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_STEM_IM2COL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/driver/pixel_cursor.h"
#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

class StemIm2col {
 public:
  // `memory`: Bytes().
  StemIm2col(const ConvArgs& args, uint8_t* memory) : args_(args), ring_(memory) {}
  static size_t Bytes(const ConvArgs& args) {
    return static_cast<size_t>(kRing * args.k + kSlack);  // copies write whole chunks
  }
  // Pixels [m, end) come next.
  void StartAt(int64_t m, int64_t end) {
    done_ = m;
    end_ = end;
    next_ = CursorAt(m, args_.oh, args_.ow);
  }
  // Makes the rows of pixels [m, m + count), and some more; count <= kMost.
  void Fill(int64_t m, int64_t count) {
    int64_t to = m + count + kAhead;
    if (done_ >= to || done_ == end_) return;
    if (to < done_ + kBatch) to = done_ + kBatch;
    if (to > end_) to = end_;
    while (done_ < to) {
      const int64_t run = Inside(to - done_);
      if (run > 0) {
        CopyRun(run);
      } else {
        CopyPixels();
        Advance(next_, args_.oh, args_.ow);
        ++done_;
      }
    }
  }
  // args.k bytes.
  const uint8_t* Row(int64_t m) const { return ring_ + Slot(m) * args_.k; }
  // The rows of pixels [m, m + count) follow each other.
  static bool AreEven(int64_t m, int64_t count) { return Slot(m) + count <= kRing; }

  static constexpr int64_t kMost = 12;

 private:
  // A store queue has some 64 entries, and a window of three lines takes three. Many rows at a
  // time: finding out what lies inside costs as much as some copies.
  static constexpr int64_t kAhead = 16, kBatch = 112, kRing = 256, kSlack = 64;
  static_assert(kRing >= kAhead + kBatch + 2 * kMost);
  static int64_t Slot(int64_t m) { return m % kRing; }

  // Bytes of a line of the window, and what is copied for it: a whole chunk, unless it is long.
  int64_t LineBytes() const { return args_.window.kernel_w * args_.ic; }
  int64_t ChunkBytes() const {
    const int64_t bytes = LineBytes();
    return bytes <= 16 ? 16 : bytes <= 32 ? 32 : bytes <= 64 ? 64 : bytes;
  }

  // So many of the next `most` pixels are neighbours in one output row and in the ring, with
  // windows that lie inside the image, lines that are neighbours in memory, and chunks that end
  // before the image does: behind it, another thread may write.
  int64_t Inside(int64_t most) const {
    const Window& w = args_.window;
    const int64_t x = next_.x * w.stride_w - w.pad_left, y = next_.y * w.stride_h - w.pad_top;
    const int64_t last_y = y + (w.kernel_h - 1) * w.dilation_h;
    if (x < 0 || y < 0 || last_y >= args_.ih || args_.src_pitch != args_.ic) return 0;
    int64_t run = most;
    if (args_.ow - next_.x < run) run = args_.ow - next_.x;
    if (kRing - Slot(done_) < run) run = kRing - Slot(done_);
    int64_t end = args_.iw * args_.ic;  // of the last line
    const bool has_more = last_y + 1 < args_.ih || next_.batch + 1 < args_.batch;
    if (has_more && args_.iw * args_.ic >= 64) end += 64;
    const int64_t of_pixel = x * args_.ic + ChunkBytes();
    while (run > 0 && (x + (run - 1) * w.stride_w + w.kernel_w > args_.iw ||
                       of_pixel + (run - 1) * w.stride_w * args_.ic > end)) {
      --run;
    }
    return run;
  }
  void CopyRun(int64_t run) {
    const int64_t bytes = LineBytes(), chunk = ChunkBytes();
    if (chunk == 16) {
      CopyLines<16>(run, bytes);
    } else if (chunk == 32) {
      CopyLines<32>(run, bytes);
    } else if (chunk == 64) {
      CopyLines<64>(run, bytes);
    } else {
      CopyLines<0, 0>(run, bytes);
    }
    done_ += run;
    next_.x += run - 1;
    Advance(next_, args_.oh, args_.ow);
  }
  template <int kChunk>
  void CopyLines(int64_t run, int64_t bytes) {
    switch (args_.window.kernel_h) {
      case 3:
        return CopyLines<kChunk, 3>(run, bytes);
      case 7:
        return CopyLines<kChunk, 7>(run, bytes);
      default:
        return CopyLines<kChunk, 0>(run, bytes);
    }
  }
  // Copies of whole chunks: what one writes too many, the next ones write again. 0: any.
  template <int kChunk, int kLines>
  void CopyLines(int64_t run, int64_t bytes) {
    const Window& w = args_.window;
    const int64_t x0 = next_.x * w.stride_w - w.pad_left, y0 = next_.y * w.stride_h - w.pad_top;
    const int64_t lines = kLines > 0 ? kLines : w.kernel_h;
    const int64_t down = w.dilation_h * args_.iw * args_.ic, right = w.stride_w * args_.ic;
    const int64_t pitch = args_.k;
    const uint8_t* from = args_.src + ((next_.batch * args_.ih + y0) * args_.iw + x0) * args_.ic;
    uint8_t* row = ring_ + Slot(done_) * pitch;
    for (; run > 0; --run, from += right, row += pitch) {
#pragma GCC unroll 7
      for (int64_t y = 0; y < lines; ++y) {
        std::memcpy(row + y * bytes, from + y * down,
                    static_cast<size_t>(kChunk > 0 ? kChunk : bytes));
      }
    }
  }
  // In chunks, but not to read behind `end`: there, another thread may write. (It does not between
  // the pixels of a view: codegen keeps a command's source and destination out of one buffer.)
  static void Copy(const uint8_t* from, int64_t bytes, const uint8_t* end, uint8_t* to) {
    if (end - from < bytes + 15) {
      for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
    } else {
      for (int64_t i = 0; i < bytes; i += 16) std::memcpy(to + i, from + i, 16);
    }
  }
  // One pixel at an edge, or of a view of a wider tensor.
  void CopyPixels() {
    const Window w = args_.window;
    const int64_t ic = args_.ic, iw = args_.iw, ih = args_.ih, pitch = args_.src_pitch;
    const uint8_t *src = args_.src, zero = *args_.zero_row;
    // The source's last byte, also where it is a view of a wider tensor.
    const uint8_t* end = src + (args_.batch * ih * iw - 1) * pitch + ic;
    const int64_t x0 = next_.x * w.stride_w - w.pad_left, y0 = next_.y * w.stride_h - w.pad_top;
    const int64_t bytes = w.kernel_w * ic, first = next_.batch * ih;
    const bool whole = x0 >= 0 && x0 + w.kernel_w <= iw && pitch == ic;
    uint8_t* row = ring_ + Slot(done_) * args_.k;
    for (int64_t ky = 0; ky < w.kernel_h; ++ky, row += bytes) {
      const int64_t y = y0 + ky * w.dilation_h;
      const uint8_t* line = src + ((first + y) * iw + x0) * pitch;
      if (y < 0 || y >= ih) {
        std::memset(row, zero, static_cast<size_t>(bytes));
      } else if (whole) {
        Copy(line, bytes, end, row);
      } else {
        for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
          const bool inside = x0 + kx >= 0 && x0 + kx < iw;
          uint8_t* to = row + kx * ic;
          if (inside) {
            Copy(line + kx * pitch, ic, end, to);
          } else {
            std::memset(to, zero, static_cast<size_t>(ic));
          }
        }
      }
    }
  }

  const ConvArgs& args_;
  uint8_t* ring_;
  int64_t done_ = 0, end_ = 0;
  PixelCursor next_ = {};
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_STEM_IM2COL_H_
