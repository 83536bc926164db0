// The order in which a convolution takes its output pixels.
//
// Where what is multiplied for a tap outside the image is 0, such taps need not be computed: a
// sixth of the products of 3 x 3 over 7 x 7 pixels, a tenth over 14 x 14. A register tile skips a
// tap that lies outside for all of its pixels. Where it pays, the image is therefore divided into
// bands with the same kernel rows inside and these into columns with the same kernel columns
// inside, so that pixels of an edge come one below the other. The largest parts come first: their
// tiles have the most to multiply while a panel's weights arrive from memory.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_OUTPUT_PARTITION_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_OUTPUT_PARTITION_H_

#include <cstdint>

#include "runtime/kernels/driver/pixel_cursor.h"
#include "runtime/kernels/kernels.h"

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
// each other in order, or vertical in one column.
struct PixelRun {
  int64_t first = 0, count = 0;
  bool vertical = false;
  LiveTaps taps = {};
};

// Of a window that begins at `at`, the positions inside the image. (Steps of pooling have their
// own: units include nothing of theirs, and what is here is in no step's namespace.)
inline Span TapsInside(int64_t at, int64_t dilation, int64_t kernel, int64_t size) {
  // Divisions are slow.
  const auto steps = [dilation](int64_t n) { return dilation == 1 ? n : n / dilation; };
  Span inside{at < 0 ? steps(dilation - 1 - at) : 0, at < size ? steps(size - 1 - at) + 1 : 0};
  if (inside.end > kernel) inside.end = kernel;
  return inside.begin < inside.end ? inside : Span{};
}

// Output positions of one dimension whose windows lie inside the image. A pad below 0, that of a
// window without its first taps, is rounded to 0: no output position is below 0 anyway.
inline Span OutputsInside(int64_t size, int64_t kernel, int64_t dilation, int64_t stride,
                          int64_t pad) {
  const int64_t room = size - 1 - (kernel - 1) * dilation + pad;
  return {(pad + stride - 1) / stride, room < 0 ? 0 : room / stride + 1};
}

// What a unit's tiles cost, about.
struct TileCost {
  int64_t pixels = 1;          // of a tile, at most
  int64_t macs_per_cycle = 1;  // in it
};

class OutputPartition {
 public:
  // Of output pixels `pixels`. skips: taps outside may be left out.
  OutputPartition(const ConvArgs& args, const Span& pixels, bool skips, const TileCost& cost)
      : args_(args),
        pixels_(pixels),
        cost_(cost),
        inside_(OutputsInside(args.iw, args.window.kernel_w, args.window.dilation_w,
                              args.window.stride_w, args.window.pad_left)) {
    if (skips) Divide();
  }

  // One run, under all taps.
  bool in_order() const { return !divided_; }

  // visit(run) for all pixels; in any order, unless in_order().
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    if (!divided_)
      return visit(PixelRun{
          pixels_.begin, pixels_.size(), false, {{0, args_.window.kernel_h}, AllColumns()}});
    VisitRowBand(largest_, visit);
    ForEachRowBand([&](const RowBand& band) {
      if (band.pixels != largest_.pixels) VisitRowBand(band, visit);
    });
  }

 private:
  // Besides dot products: of a tile of 64 output channels, and of a run.
  static constexpr int64_t kCyclesOfTile = 64, kCyclesOfRun = 16;

  // Pixels of one image that follow each other: [rows.begin, rows.end) are whole rows, before and
  // behind them may be a part of a row.
  struct RowBand {
    Span pixels, rows;
    Span taps;                // kernel rows
    bool has_groups = false;  // its rows are divided into groups of columns
  };
  // Columns of some rows.
  struct ColumnGroup {
    Span columns;
    Span taps;  // kernel columns
    bool vertical = false;
    int64_t runs = 1, pixels = 0;  // of each
  };

  Span AllColumns() const { return {0, args_.window.kernel_w}; }
  Span RowsAt(int64_t y) const {
    const Window& w = args_.window;
    return TapsInside(y * w.stride_h - w.pad_top, w.dilation_h, w.kernel_h, args_.ih);
  }
  Span ColumnsAt(int64_t x) const {
    const Window& w = args_.window;
    return TapsInside(x * w.stride_w - w.pad_left, w.dilation_w, w.kernel_w, args_.iw);
  }
  int64_t Tiles(int64_t pixels) const { return (pixels + cost_.pixels - 1) / cost_.pixels; }
  // Of one panel. A single pixel costs as much as two: it waits for weights.
  int64_t Cycles(int64_t pixels, int64_t taps) const {
    if (pixels == 0) return 0;
    const int64_t channels = args_.n < 64 ? args_.n : 64;
    const int64_t macs = (pixels > 1 ? pixels : 2) * taps * args_.ic4 * channels;
    return macs / cost_.macs_per_cycle + Tiles(pixels) * kCyclesOfTile + kCyclesOfRun;
  }

  // The bands and what is the largest of them, if that is cheaper than one run.
  void Divide() {
    int64_t divided = 0;
    ForEachRowBand([&](const RowBand& band) {
      divided += CyclesOf(band);
      if (band.pixels.size() > largest_.pixels.size()) largest_ = band;
    });
    divided_ = divided < Cycles(pixels_.size(), args_.window.kernel_h * args_.window.kernel_w);
  }
  int64_t CyclesOf(const RowBand& band) const {
    return band.has_groups ? CyclesOfGroups(band)
                           : Cycles(band.pixels.size(), band.taps.size() * args_.window.kernel_w);
  }
  int64_t CyclesOfGroups(const RowBand& band) const {
    const int64_t all = band.taps.size() * args_.window.kernel_w;
    int64_t cycles = Cycles(band.rows.begin - band.pixels.begin, all) +
                     Cycles(band.pixels.end - band.rows.end, all);
    ForEachGroup(band.rows.size() / args_.ow, [&](const ColumnGroup& group) {
      cycles += group.runs * Cycles(group.pixels, band.taps.size() * group.taps.size());
    });
    return cycles;
  }

  template <typename F>
  void ForEachRowBand(F&& f) const {
    const int64_t ow = args_.ow;
    for (int64_t m = pixels_.begin; m < pixels_.end;) {
      const PixelCursor first = CursorAt(m, args_.oh, ow);
      RowBand band{{m, m - first.x + ow}, {}, RowsAt(first.y)};
      for (int64_t y = first.y + 1; y < args_.oh && RowsAt(y) == band.taps; ++y)
        band.pixels.end += ow;
      if (band.pixels.end > pixels_.end) band.pixels.end = pixels_.end;
      const int64_t head = first.x == 0 ? 0 : ow - first.x;
      if (head < band.pixels.size()) {
        band.rows.begin = m + head;
        band.rows.end = band.pixels.end - (band.pixels.size() - head) % ow;
        band.has_groups = band.rows.size() > 0 && CyclesOfGroups(band) < CyclesOf(band);
      }
      m = band.pixels.end;
      f(band);
    }
  }

  // Of `height` rows, the columns that have the same kernel columns inside.
  template <typename F>
  void ForEachGroup(int64_t height, F&& f) const {
    for (Span at; at.end < args_.ow; at.begin = at.end) {
      const Span taps = ColumnsAt(at.begin);
      if (inside_.Has(at.begin)) {
        at.end = inside_.end < args_.ow ? inside_.end : args_.ow;
      } else {
        do ++at.end;
        while (at.end < args_.ow && ColumnsAt(at.end) == taps);
      }
      const int64_t width = at.size();
      const bool vertical = width * Tiles(height) < height * Tiles(width);
      f(ColumnGroup{at, taps, vertical, vertical ? width : height, vertical ? height : width});
    }
  }

  template <typename Visit>
  void VisitRowBand(const RowBand& band, Visit&& visit) const {
    const auto in_order = [&](const Span& pixels) {
      if (pixels.size() == 0) return;
      visit(PixelRun{pixels.begin, pixels.size(), false, {band.taps, AllColumns()}});
    };
    if (!band.has_groups) return in_order(band.pixels);
    const int64_t height = band.rows.size() / args_.ow;
    ColumnGroup largest;
    ForEachGroup(height, [&](const ColumnGroup& group) {
      if (group.columns.size() > largest.columns.size()) largest = group;
    });
    VisitGroup(band, largest, visit);
    ForEachGroup(height, [&](const ColumnGroup& group) {
      if (group.columns != largest.columns) VisitGroup(band, group, visit);
    });
    in_order({band.pixels.begin, band.rows.begin});
    in_order({band.rows.end, band.pixels.end});
  }

  template <typename Visit>
  void VisitGroup(const RowBand& band, const ColumnGroup& group, Visit&& visit) const {
    const int64_t first = band.rows.begin + group.columns.begin;
    const int64_t step = group.vertical ? 1 : args_.ow;
    for (int64_t i = 0; i < group.runs; ++i) {
      visit(PixelRun{first + i * step, group.pixels, group.vertical, {band.taps, group.taps}});
    }
  }

  const ConvArgs& args_;
  Span pixels_;
  TileCost cost_;
  Span inside_;  // columns
  RowBand largest_ = {};
  bool divided_ = false;
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_OUTPUT_PARTITION_H_
