// The order of a convolution's output pixels: all of them, once, under every tap that is inside.
#include "runtime/kernels/driver/output_partition.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/runtime/random_kernels.h"

namespace rshift {
namespace {

using random_kernels::Random;

struct Runs {
  std::vector<PixelRun> all;
  void operator()(const PixelRun& run) { all.push_back(run); }
  int64_t Products() const {  // of a channel
    int64_t products = 0;
    for (const PixelRun& run : all) products += run.count * run.taps.count();
    return products;
  }
};

constexpr TileCost kTile{.pixels = 6, .macs_per_cycle = 64};

Runs Skipping(const ConvArgs& args, const Span& pixels, const TileCost& cost = kTile) {
  Runs runs;
  OutputPartition(args, pixels, true, cost).ForEach(runs);
  return runs;
}

ConvArgs ThreeByThree(int64_t size, int64_t channels) {
  ConvArgs args;
  args.window.kernel_h = args.window.kernel_w = 3;
  args.window.pad_top = args.window.pad_left = 1;
  args.ih = args.iw = args.oh = args.ow = size;
  args.ic4 = channels;
  args.n = 64;
  return args;
}

TEST(OutputPartition, EachPixelComesOnceUnderAllTapsThatAreInside) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    ConvArgs args;
    Window& w = args.window;
    w = random_kernels::RandomWindow(random);
    if (random.OneIn(4)) w.pad_top = random.Int(0, 12), w.pad_left = random.Int(0, 12);
    if (random.OneIn(4)) w.dilation_h = random.Int(1, 6), w.dilation_w = random.Int(1, 6);
    args.batch = random.Int(1, 2);
    args.oh = random.Int(1, 16);
    args.ow = random.Int(1, 16);
    args.ih =
        random_kernels::InputSize(random, args.oh, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top);
    args.iw = random_kernels::InputSize(random, args.ow, w.kernel_w, w.stride_w, w.dilation_w,
                                        w.pad_left);
    args.ic4 = 4 * random.Int(1, 100);
    args.n = 16 * random.Int(1, 9);
    const int64_t m = args.batch * args.oh * args.ow, begin = random.Int(0, m);
    const Span pixels{begin, random.Int(begin, m)};
    const TileCost cost{.pixels = 3 * random.Int(1, 4), .macs_per_cycle = 16 << random.Int(0, 2)};
    std::vector<int> seen(static_cast<size_t>(m));
    for (const PixelRun& run : Skipping(args, pixels, cost).all) {
      for (int64_t i = 0; i < run.count; ++i) {
        const int64_t at = run.first + i * (run.vertical ? args.ow : 1);
        ASSERT_TRUE(pixels.Has(at));
        ++seen[static_cast<size_t>(at)];
        const PixelCursor p = CursorAt(at, args.oh, args.ow);
        for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
            const int64_t y = p.y * w.stride_h - w.pad_top + ky * w.dilation_h;
            const int64_t x = p.x * w.stride_w - w.pad_left + kx * w.dilation_w;
            const bool inside = Span{0, args.ih}.Has(y) && Span{0, args.iw}.Has(x);
            const bool live = run.taps.rows.Has(ky) && run.taps.columns.Has(kx);
            ASSERT_TRUE(live || !inside) << "pixel " << at << ", tap " << ky << ", " << kx;
            ASSERT_TRUE(inside || !live || !run.vertical);  // its indirection buffer asks no more
          }
        }
      }
    }
    for (int64_t i = 0; i < m; ++i) ASSERT_EQ(seen[static_cast<size_t>(i)], pixels.Has(i)) << i;
  }
}

// 49 x 9 products less the seven outside above and below, three each, and, of the five rows between
// them, the same left and right. Corners skip no columns: tiles of a single pixel do not pay.
TEST(OutputPartition, TapsOutsideAreSkipped) {
  EXPECT_EQ(Skipping(ThreeByThree(7, 512), {0, 49}).Products(), 441 - 2 * 7 * 3 - 2 * 5 * 3);
  EXPECT_EQ(Skipping(ThreeByThree(14, 256), {0, 196}).Products(), 1764 - 2 * 14 * 3 - 2 * 12 * 3);
}

TEST(OutputPartition, ColumnsAreNotWorthATileOfFewProducts) {
  const Runs runs = Skipping(ThreeByThree(10, 4), {0, 100});
  EXPECT_FALSE(runs.all.empty());
  for (const PixelRun& run : runs.all) EXPECT_FALSE(run.vertical);
}

// One pixel each of eight images, of which none has a tap outside.
TEST(OutputPartition, WhatSkipsNothingIsOneRun) {
  ConvArgs args;
  args.batch = 8;
  args.window.kernel_h = args.window.kernel_w = args.ih = args.iw = 7;
  args.ic4 = 128, args.n = 512;
  const Runs runs = Skipping(args, {0, 8});
  ASSERT_EQ(runs.all.size(), 1u);
  EXPECT_EQ(runs.all[0].count, 8);
  EXPECT_EQ(runs.all[0].taps.count(), 49);
}

TEST(OutputPartition, TheLargestPartComesFirst) {
  const PixelRun first = Skipping(ThreeByThree(14, 256), {0, 196}).all.front();
  EXPECT_EQ(first.first, 15);
  EXPECT_EQ(first.count, 12);
  EXPECT_EQ(first.taps.count(), 9);
}

}  // namespace
}  // namespace rshift
