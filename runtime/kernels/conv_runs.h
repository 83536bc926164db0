// The order in which a convolution takes its output pixels. Included by kernel units only (see
// conv_driver.h).
//
// Where what is multiplied for a tap outside the image is 0, such taps need not be computed: a
// sixth of the products of 3 x 3 over 7 x 7 pixels, a tenth over 14 x 14. A register tile skips a
// tap that lies outside for all of its pixels. The image is therefore divided into bands of rows
// with the same kernel rows inside and these, where it pays, into columns with the same kernel
// columns inside, so that pixels of an edge come one below the other. The largest parts come first:
// their tiles have the most to multiply while a panel's weights arrive from memory.
#ifndef RSHIFT_RUNTIME_KERNELS_CONV_RUNS_H_
#define RSHIFT_RUNTIME_KERNELS_CONV_RUNS_H_

#include <cstdint>

#include "runtime/kernels/kernels.h"
#include "runtime/kernels/pixel_cursor.h"

namespace rshift {
namespace {

// [begin, end)
struct Span {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool Has(int64_t i) const { return i >= begin && i < end; }
  bool operator==(const Span&) const = default;
};

// Kernel rows and columns.
struct LiveTaps {
  Span rows, columns;
  int64_t count() const { return rows.size() * columns.size(); }
  bool operator==(const LiveTaps&) const = default;
};

// Output pixels under the same taps: for all of them, the others are outside the image. They follow
// each other in order, or downwards in one column.
struct PixelRun {
  int64_t first = 0, count = 0;
  bool downwards = false;
  LiveTaps taps = {};
};

// Of a window that begins at `at`, the positions inside the image.
inline Span Inside(int64_t at, int64_t dilation, int64_t kernel, int64_t size) {
  Span inside{at < 0 ? (dilation - 1 - at) / dilation : 0,
              at < size ? (size - 1 - at) / dilation + 1 : 0};
  if (inside.end > kernel) inside.end = kernel;
  return inside.begin < inside.end ? inside : Span{};
}

// Output positions of one dimension whose windows lie inside the image.
inline Span WhollyInside(int64_t size, int64_t kernel, int64_t dilation, int64_t stride,
                         int64_t pad) {
  const int64_t room = size - 1 - (kernel - 1) * dilation + pad;
  return {(pad + stride - 1) / stride, room < 0 ? 0 : room / stride + 1};
}

// Calls visit(run) for all of a range's pixels.
template <typename Visit>
class PixelRuns {
 public:
  // `tile`: pixels of a register tile.
  PixelRuns(const ConvArgs& args, int64_t tile, Visit& visit)
      : args_(args),
        tile_(tile),
        visit_(visit),
        inside_(WhollyInside(args.iw, args.window.kernel_w, args.window.dilation_w,
                             args.window.stride_w, args.window.pad_left)) {}

  // One run under all taps.
  void InOrder(const Span& pixels) {
    visit_(
        PixelRun{pixels.begin, pixels.size(), false, {{0, args_.window.kernel_h}, AllColumns()}});
  }

  // Runs under the taps that are inside the image, in any order.
  void Skipping(const Span& pixels) {
    Band largest;
    ForEachBand(pixels, [&](const Band& band) {
      if (band.pixels.size() > largest.pixels.size()) largest = band;
    });
    VisitBand(largest);
    ForEachBand(pixels, [&](const Band& band) {
      if (band.pixels != largest.pixels) VisitBand(band);
    });
  }

 private:
  // What a tile of 64 channels costs besides its dot products.
  static constexpr int64_t kCyclesOfTile = 64;

  // Whole rows of one image, or a part of a row.
  struct Band {
    Span pixels;
    Span taps;  // kernel rows
  };
  // Columns of a band.
  struct Part {
    Span columns;
    Span taps;  // kernel columns
    bool downwards = false;
    int64_t runs = 1, pixels = 0;  // of each
  };

  Span AllColumns() const { return {0, args_.window.kernel_w}; }
  Span RowsAt(int64_t y) const {
    const WindowArgs& w = args_.window;
    return Inside(y * w.stride_h - w.pad_top, w.dilation_h, w.kernel_h, args_.ih);
  }
  Span ColumnsAt(int64_t x) const {
    const WindowArgs& w = args_.window;
    return Inside(x * w.stride_w - w.pad_left, w.dilation_w, w.kernel_w, args_.iw);
  }
  int64_t Tiles(int64_t pixels) const { return (pixels + tile_ - 1) / tile_; }
  // What 64 channels of some runs cost, about. A single pixel costs as much as two: it waits for
  // weights.
  int64_t Cycles(int64_t runs, int64_t pixels, int64_t taps) const {
    return runs * ((pixels > 1 ? pixels : 2) * taps * args_.ic4 + Tiles(pixels) * kCyclesOfTile);
  }

  template <typename F>
  void ForEachBand(const Span& pixels, F&& f) const {
    const int64_t ow = args_.ow;
    for (Span at{pixels.begin, pixels.begin}; at.end < pixels.end; at.begin = at.end) {
      const PixelCursor first = CursorAt(at.begin, args_.oh, ow);
      const int64_t left = pixels.end - at.begin, of_row = ow - first.x;
      const Span taps = RowsAt(first.y);
      at.end += of_row < left ? of_row : left;
      if (at.size() == ow) {
        for (int64_t y = first.y + 1;
             y < args_.oh && at.end + ow <= pixels.end && RowsAt(y) == taps; ++y) {
          at.end += ow;
        }
      }
      f(Band{at, taps});
    }
  }

  // The columns of `height` rows that have the same kernel columns inside.
  template <typename F>
  void ForEachPart(int64_t height, F&& f) const {
    for (Span at; at.end < args_.ow; at.begin = at.end) {
      const Span taps = ColumnsAt(at.begin);
      if (inside_.Has(at.begin)) {
        at.end = inside_.end < args_.ow ? inside_.end : args_.ow;
      } else {
        do ++at.end;
        while (at.end < args_.ow && ColumnsAt(at.end) == taps);
      }
      const int64_t width = at.size();
      const bool downwards = width * Tiles(height) < height * Tiles(width);
      f(Part{at, taps, downwards, downwards ? width : height, downwards ? height : width});
    }
  }

  void VisitBand(const Band& band) {
    const int64_t count = band.pixels.size(), height = count / args_.ow;
    if (height * args_.ow == count) {
      int64_t divided = 0;
      Part largest;
      ForEachPart(height, [&](const Part& part) {
        divided += Cycles(part.runs, part.pixels, band.taps.size() * part.taps.size());
        if (part.columns.size() > largest.columns.size()) largest = part;
      });
      if (divided < Cycles(1, count, band.taps.size() * args_.window.kernel_w)) {
        VisitPart(band, largest);
        ForEachPart(height, [&](const Part& part) {
          if (part.columns != largest.columns) VisitPart(band, part);
        });
        return;
      }
    }
    visit_(PixelRun{band.pixels.begin, count, false, {band.taps, AllColumns()}});
  }

  void VisitPart(const Band& band, const Part& part) {
    const int64_t step = part.downwards ? 1 : args_.ow;
    const int64_t first = band.pixels.begin + part.columns.begin;
    for (int64_t i = 0; i < part.runs; ++i) {
      visit_(PixelRun{first + i * step, part.pixels, part.downwards, {band.taps, part.taps}});
    }
  }

  const ConvArgs& args_;
  int64_t tile_;
  Visit& visit_;
  Span inside_;  // columns
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_CONV_RUNS_H_
