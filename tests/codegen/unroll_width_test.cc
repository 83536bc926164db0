#include "codegen/passes/unroll_width.h"

#include <gtest/gtest.h>

#include <random>

namespace rshift {
namespace {

// Accumulators [H][W][OC] of one image [H][W][IC] under the window, by the definition.
std::vector<int32_t> Convolve(const std::vector<int8_t>& x, int64_t ih, int64_t iw, const Window& o,
                              const std::vector<int8_t>& weights, const Shape& w,
                              const std::vector<int32_t>& zero_w) {
  const int64_t oh = (ih + o.pad_top + o.pad_bottom - (w[2] - 1) * o.dilation_h - 1) / o.stride_h;
  const int64_t ow = (iw + o.pad_left + o.pad_right - (w[3] - 1) * o.dilation_w - 1) / o.stride_w;
  std::vector<int32_t> acc;
  for (int64_t y = 0; y <= oh; ++y) {
    for (int64_t column = 0; column <= ow; ++column) {
      for (int64_t oc = 0; oc < w[0]; ++oc) {
        int32_t sum = 0;
        for (int64_t i = 0; i < w[1] * w[2] * w[3]; ++i) {
          const int64_t ic = i / (w[2] * w[3]), ky = i / w[3] % w[2], kx = i % w[3];
          const int64_t at_y = y * o.stride_h + ky * o.dilation_h - o.pad_top;
          const int64_t at_x = column * o.stride_w + kx * o.dilation_w - o.pad_left;
          if (at_y < 0 || at_y >= ih || at_x < 0 || at_x >= iw) continue;
          sum += x[(at_y * iw + at_x) * w[1] + ic] *
                 (weights[oc * w[1] * w[2] * w[3] + i] - zero_w[oc % zero_w.size()]);
        }
        acc.push_back(sum);
      }
    }
  }
  return acc;
}

TEST(UnrollWidthTest, TheSameSumsInTheSamePlaces) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int64_t lo, int64_t hi) {
      return std::uniform_int_distribution<int64_t>(lo, hi)(random);
    };
    const auto bytes = [&](int64_t count) {
      std::vector<int8_t> values(count);
      for (int8_t& v : values) v = static_cast<int8_t>(pick(-128, 127));
      return values;
    };
    const Shape w = {pick(1, 4), pick(1, 5), pick(1, 3), pick(1, 4)};
    const Window o = {w[2], w[3],       pick(1, 2), 1,          pick(1, 2),
                      1,    pick(0, 2), pick(0, 3), pick(0, 2), pick(0, 3)};
    const int64_t ih = pick(1, 4) + (w[2] - 1) * o.dilation_h, iw = pick(1, 12) + w[3] - 1;
    const int64_t width = iw + o.pad_left + o.pad_right - w[3] + 1, pixels = pick(2, 6);
    const std::vector<int8_t> x = bytes(ih * iw * w[1]), weights = bytes(NumElements(w));
    std::vector<int32_t> zeros;
    for (int64_t oc = 0; oc < w[0]; ++oc) zeros.push_back(static_cast<int32_t>(pick(-3, 3)));

    const std::vector<int32_t> expected = Convolve(x, ih, iw, o, weights, w, zeros);
    const Shape wide = {w[0] * pixels, w[1], w[2], w[3] + pixels - 1};
    const std::vector<int32_t> actual =
        Convolve(x, ih, iw, WidenWindow(o, pixels, iw, width),
                 WidenWeights(weights, w, pixels, zeros), wide, zeros);
    const int64_t columns = (width + pixels - 1) / pixels * pixels;
    ASSERT_EQ(actual.size() / columns, expected.size() / width);
    for (size_t i = 0; i < expected.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / (width * w[0]);
      ASSERT_EQ(actual[i + row * (columns - width) * w[0]], expected[i]) << i;
    }
  }
}

TEST(UnrollWidthTest, OnlyWhereSomethingIsGained) {
  QConv same;
  same.window = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_GT(PixelsPerCommand({}, same, {3, 32, 3, 3}, {1, 224, 224, 3}), 1);
  EXPECT_EQ(PixelsPerCommand({}, same, {16, 32, 3, 3}, {1, 224, 224, 16}), 1);  // fills a column
  EXPECT_EQ(PixelsPerCommand({}, same, {3, 32, 3, 3}, {1, 14, 14, 3}), 1);
  QConv other = same;
  other.window.stride_w = 2;
  EXPECT_EQ(PixelsPerCommand({}, other, {3, 32, 3, 3}, {1, 224, 224, 3}), 1);
}

}  // namespace
}  // namespace rshift
