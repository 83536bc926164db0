// The loops around a register tile, once for all instruction sets. Everything is in the unnamed
// namespace: each unit gets its own copy, built with its own flags (README.md, "Rules").
//
// A unit provides `struct Unit` with
//   static constexpr int kRows;                 // output pixels it takes at a time, at most
//   static constexpr int64_t kMacsPerCycle;     // of its tile, about
//   static int64_t TileRows(const ConvArgs&);   // pixels of its largest register tile: kRows, or
//                                               // kRows / 2 for two tiles at a time
//   static uint8_t Flip(const ConvArgs&);       // it multiplies x XOR this
//   // R = count pixels x one panel; 1 <= R <= kRows; leaves TileArgs as it was.
//   template <int R> static void Tile(const ConvArgs&, TileArgs&);
// Convolution is an indirect matrix product: for R output pixels a list of row pointers says where
// each tap reads its channels (a row of zero points outside the image); the tile multiplies those
// rows with one panel of packed weights. Taps that all R pixels have outside are left out where
// that changes nothing (driver/output_partition.h). No im2col buffer exists, but where channels are
// few: there a pixel's whole window is one tap (driver/stem_im2col.h). Weight zero points are taken
// off at the end: sum x * (w - zero_w) = sum x * w - zero_w * sum x, modulo 2^32 (kernels.h). The
// pointers are built once and used for a block of panels that fits the L2 cache.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_CONV_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_CONV_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/driver/indirection_buffer.h"
#include "runtime/kernels/driver/row_sums.h"

namespace rshift {
namespace {

constexpr int64_t kPanelBlockBytes = 512 * 1024;

// One register tile: `rows[tap * kRows + r]` is what pixel r < count reads under a tap.
struct TileArgs {
  const uint8_t* const* rows = nullptr;
  int64_t taps = 1;                 // row pointers of a pixel: those that are not skipped
  const int64_t* gaps = nullptr;    // in K, between the weights of a tap and those of the next
  int64_t channels = 0;             // bytes that count under each
  int64_t channel_offset = 0;       // of the group, in bytes of a pixel
  const int8_t* weights = nullptr;  // of the panel, from the first of the taps on
  int64_t width = 64;               // channels of the panel, a multiple of 16
  int64_t real = 64;                // of which this many are stored
  int64_t entry = 0;                // first index into the requantization arrays
  uint8_t* dst = nullptr;           // pixel 0, first channel of the panel
  int64_t dst_stride = 0;           // bytes from pixel to pixel
  int count = 1;
  // With weight zero points: for each pixel the sum of the x it reads, of this group; else null.
  const int32_t* sums = nullptr;
};

// The sums of a tile's pixels; |sum| <= 255 * taps * channels, modulo 2^32 as all else.
inline void SumRows(const ConvArgs& args, const TileArgs& tile, int rows_of_tile, int32_t* sums) {
  for (int r = 0; r < tile.count; ++r) {
    int64_t sum = 0;
    for (int64_t tap = 0; tap < tile.taps; ++tap) {
      const uint8_t* x = tile.rows[tap * rows_of_tile + r] + tile.channel_offset;
      sum += args.src_signed ? SumSignedBytes(x, tile.channels) : SumBytes(x, tile.channels);
    }
    sums[r] = static_cast<int32_t>(sum);
  }
}

// The tile for exactly tile.count pixels.
template <typename Unit, int R = Unit::kRows>
void RunTile(const ConvArgs& args, TileArgs& tile) {
  if constexpr (R > 1) {
    if (tile.count < R) return RunTile<Unit, R - 1>(args, tile);
  }
  Unit::template Tile<R>(args, tile);
}

// All of `panels`, for the pixels the indirection buffer was built for, of which m is the first;
// first_k: of their taps.
template <typename Unit>
void RunPanels(const ConvArgs& args, TileArgs& tile, int64_t m, int64_t first_k,
               const Span& panels) {
  int32_t sums[Unit::kRows];
  int64_t sums_of = -1;  // group
  // Divisions are as slow as a small tile.
  int64_t group = args.groups == 1 ? 0 : panels.begin / args.panels_per_group;
  int64_t first = (panels.begin - group * args.panels_per_group) * kPanelChannels;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    const int64_t left = args.n - first, real = args.oc_per_group - first;
    tile.channel_offset = group * args.ic_per_group;
    tile.width = left < kPanelChannels ? left : kPanelChannels;
    tile.real = real < tile.width ? real : tile.width;
    tile.weights = args.weights + group * args.k * args.n + first * args.k + first_k * tile.width;
    tile.entry = group * args.n + first;
    tile.dst = args.dst + m * args.dst_pitch + group * args.oc_per_group + first;
    if (args.requant.zero_w != nullptr && group != sums_of) {
      SumRows(args, tile, Unit::kRows, sums);
      tile.sums = sums;
      sums_of = group;
    }
    RunTile<Unit>(args, tile);
    first += kPanelChannels;
    if (first >= args.n) ++group, first = 0;
  }
}

// The first output channel of a panel.
inline int64_t FirstChannel(const ConvArgs& args, int64_t panel) {
  return panel / args.panels_per_group * args.oc_per_group +
         panel % args.panels_per_group * kPanelChannels;
}

// Behind its last one.
inline int64_t EndChannel(const ConvArgs& args, int64_t panel) {
  const int64_t real = args.oc_per_group - panel % args.panels_per_group * kPanelChannels;
  return FirstChannel(args, panel) + (real < kPanelChannels ? real : kPanelChannels);
}

// Bytes that are stored before the fused epilogue runs on them: enough to make its
// call cheap, few enough to stay in the nearest cache. (Where pixels come in another order than
// theirs, it runs when all are stored.)
constexpr int64_t kEpilogueBytes = 8 << 10;

// Pixels in tiles of nearly equal size: a last one of a single pixel would read all weights for it.
class EvenTiles {
 public:
  EvenTiles(int64_t pixels, int64_t most) : tiles_((pixels + most - 1) / most) {
    if (tiles_ > 0) small_ = pixels / tiles_, large_ = pixels % tiles_;
  }
  int64_t count() const { return tiles_; }
  // Pixels of tiles [begin, begin + count), or of those that there are.
  int64_t Pixels(int64_t begin, int64_t count) const {
    return Before(begin + count) - Before(begin);
  }

 private:
  int64_t Before(int64_t tile) const {
    const int64_t i = tile < tiles_ ? tile : tiles_;
    return i * small_ + (i < large_ ? i : large_);
  }
  int64_t tiles_, small_ = 0, large_ = 0;  // the first large_ tiles have one pixel more
};

// What is multiplied for a tap outside the image is 0, and so is what a weight zero point takes off
// for it.
template <typename Unit>
bool MaySkip(const ConvArgs& args) {
  const uint8_t zero = args.zero_row[0];
  return args.window.kernel_h * args.window.kernel_w > 1 && !args.stem_im2col &&
         (zero ^ Unit::Flip(args)) == 0 && (args.requant.zero_w == nullptr || zero == 0);
}

// All tiles of a range, for one block of panels after the other.
template <typename Unit>
class ConvLoop {
 public:
  ConvLoop(const ConvArgs& args, const ConvRange& range, void* scratch)
      : args_(args),
        range_(range),
        indirection_(args, scratch),
        partition_(args, {range.m_begin, range.m_end}, MaySkip<Unit>(args),
                   {Unit::TileRows(args), Unit::kMacsPerCycle}) {
    const Window& w = args.window;
    tile_.rows = indirection_.rows();
    tile_.gaps = indirection_.gaps();
    tile_.channels = args.stem_im2col ? w.kernel_h * w.kernel_w * args.ic : args.ic_per_group;
  }

  void Run() {
    int64_t block = kPanelBlockBytes / (args_.k * kPanelChannels + 1);
    if (block < 1) block = 1;
    for (int64_t p = range_.panel_begin; p < range_.panel_end; p += block) {
      panels_ = {p, p + block < range_.panel_end ? p + block : range_.panel_end};
      channels_ = {FirstChannel(args_, panels_.begin), EndChannel(args_, panels_.end - 1)};
      epilogue_done_ = range_.m_begin;
      partition_.ForEach(*this);
      RunEpilogue(range_.m_end);
    }
  }

  [[gnu::noinline]] void operator()(const PixelRun& run) {
    const EvenTiles tiles(run.count, Unit::TileRows(args_));
    const int64_t together = Unit::kRows / Unit::TileRows(args_);
    const int64_t step = run.vertical ? args_.ow : 1;
    tile_.dst_stride = step * args_.dst_pitch;
    indirection_.Start(run);
    tile_.taps = indirection_.taps();
    int64_t m = run.first;
    for (int64_t t = 0; t < tiles.count(); t += together) {
      tile_.count = static_cast<int>(tiles.Pixels(t, together));
      indirection_.Fill(m, tile_.count);
      RunPanels<Unit>(args_, tile_, m, indirection_.first_k(), panels_);
      m += step * tile_.count;
      if (partition_.in_order()) RunEpilogue(m);
    }
  }

 private:
  // The fused epilogue, on pixels before `end`, unless they are few.
  void RunEpilogue(int64_t end) {
    const int64_t pixels = end - epilogue_done_;
    if (args_.epilogue.run == nullptr || pixels == 0) return;
    if (pixels * channels_.size() < kEpilogueBytes && end < range_.m_end) return;
    args_.epilogue.run(args_.epilogue.state,
                       args_.dst + epilogue_done_ * args_.dst_pitch + channels_.begin, pixels,
                       channels_.size());
    epilogue_done_ = end;
  }

  const ConvArgs& args_;
  const ConvRange& range_;
  IndirectionBuffer<Unit::kRows> indirection_;
  OutputPartition partition_;
  TileArgs tile_;
  Span panels_, channels_;     // of the block
  int64_t epilogue_done_ = 0;  // pixels before this one had their epilogue
};

template <typename Unit>
void DriveConv(const ConvArgs& args, const ConvRange& range, void* scratch) noexcept {
  ConvLoop<Unit>(args, range, scratch).Run();
}

template <typename Unit>
size_t ConvScratchBytes(const ConvArgs& args) noexcept {
  return IndirectionBuffer<Unit::kRows>::Bytes(args);
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_CONV_H_
