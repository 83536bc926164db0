#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/round_up.h"
#include "quantize/numerics/int16.h"
#include "runtime/steps/conv_int16.h"

namespace rshift {
namespace {

constexpr size_t kLists = 5;  // of ChannelWords, a number of 64 bits for each entry

int64_t BiasOf(const uint8_t* records, int64_t channel) {
  int32_t bias;
  std::memcpy(&bias, records + channel * static_cast<int64_t>(sizeof(ChannelRequant)), sizeof bias);
  return bias;
}

// Pixels [first, first + count) of a tile, which lie in one line.
struct PixelRun {
  int64_t first = 0, count = 0;
};

void SetRun(const S16Shape& s, const int16_t* src, const TileRows& tile, const PixelRun& run,
            const int16_t** rows) noexcept {
  const Window& w = s.window;
  const int64_t m = tile.first + run.first, row = m / s.ow;
  const int64_t x0 = m % s.ow * w.stride_w - w.pad_left;
  const int64_t y0 = row % s.oh * w.stride_h - w.pad_top;
  const int64_t step = w.stride_w * s.ic;
  const int16_t** to = rows + run.first;
  for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
    const int64_t y = y0 + ky * w.dilation_h;
    const int64_t width = y < 0 || y >= s.ih ? 0 : s.iw;  // of the line that there is
    const int64_t line = ((row / s.oh) * s.ih + y) * s.iw * s.ic + tile.offset;
    for (int64_t kx = 0; kx < w.kernel_w; ++kx, to += tile.pixels) {
      const int64_t x = x0 + kx * w.dilation_w, last = x + (run.count - 1) * w.stride_w;
      const int64_t at = line + x * s.ic;
      if (x >= 0 && last < width) {
        for (int64_t i = 0; i < run.count; ++i) to[i] = src + at + i * step;
        continue;
      }
      for (int64_t i = 0; i < run.count; ++i) {
        const int64_t column = x + i * w.stride_w;
        to[i] = column >= 0 && column < width ? src + at + i * step : tile.zeros;
      }
    }
  }
}

// 1x1 over an image of the output's size.
bool ReadsItsOwnPixel(const S16Shape& s) {
  const Window& w = s.window;
  return s.taps() == 1 && w.pad_top == 0 && w.pad_left == 0 && w.stride_h == 1 && w.stride_w == 1 &&
         s.ih == s.oh && s.iw == s.ow;
}

}  // namespace

WeightBounds BoundsOfWeights(const int8_t* w, const uint8_t* records, int64_t channels,
                             int64_t products) {
  WeightBounds bounds;
  for (int64_t c = 0; c < channels; ++c) {
    int64_t sum = 0;
    for (int64_t k = 0; k < products; ++k) {
      const int64_t magnitude = std::abs(int64_t{w[c * products + k]});
      sum += magnitude;
      bounds.one = std::max(bounds.one, magnitude);
    }
    bounds.sum = std::max(bounds.sum, sum);
    bounds.accumulator = std::max(bounds.accumulator,
                                  std::abs(BiasOf(records, c)) + numerics::kInt16Magnitude * sum);
  }
  return bounds;
}

ChannelWords::ChannelWords(const StepContext& context, Rounding rounding, int64_t channels,
                           int64_t per_group, int64_t padded)
    : rounding_(rounding),
      memory_(kLists * sizeof(int64_t) *
              static_cast<size_t>(
                  RoundUp(channels / std::max<int64_t>(per_group, 1) * padded, int64_t{32}))),
      entries_(static_cast<int64_t>(memory_.size() / sizeof(int64_t) / kLists)),
      has_high_words_(rounding == Rounding::kHalfUp) {
  std::memset(memory_.data(), 0, memory_.size());
  const uint8_t* records = context.In<uint8_t>(Field::kRequant);
  const int zeros = rounding == Rounding::kHalfUp ? numerics::kInt16MultiplierZeros : 0;
  for (int64_t c = 0; c < channels; ++c) {
    ChannelRequant record;
    std::memcpy(&record, records + c * static_cast<int64_t>(sizeof record), sizeof record);
    const int64_t at = c / per_group * padded + c % per_group;
    numbers(0)[at] = record.bias;
    if (rounding == Rounding::kDoubleAway) {
      const double scale = numerics::WordsToDouble(record.multiplier, record.rshift);
      std::memcpy(numbers(1) + at, &scale, sizeof scale);
      continue;
    }
    numbers(1)[at] = record.multiplier >> zeros;
    numbers(2)[at] = std::max(record.rshift - zeros, 0);
    // Below 1/2: a multiplier has 24 bits.
    has_high_words_ = has_high_words_ && (record.multiplier == 0 || record.rshift >= 25 + zeros);
  }
  if (has_high_words_) SetHighWords();
}

// Shifts below 32 become factors of the multiplier.
void ChannelWords::SetHighWords() {
  for (int64_t at = 0; at < entries_; ++at) {
    const int64_t multiplier = numbers(1)[at], rshift = numbers(2)[at];
    if (multiplier == 0) continue;
    const int64_t left = std::max<int64_t>(32 - rshift, 0);
    high_words()[at] = static_cast<int32_t>(multiplier << left);
    high_words()[entries_ + at] = static_cast<int32_t>(rshift + left - 32);
    const int64_t offset = numbers(0)[at] * multiplier + (int64_t{1} << rshift >> 1);
    offsets()[at % 2 * entries_ / 2 + at / 2] = offset * (int64_t{1} << left);
  }
}

S16Channels ChannelWords::At(int64_t entry) noexcept {
  return {.rounding = rounding_,
          .bias = numbers(0) + entry,
          .multiplier = numbers(1) + entry,
          .rshift = numbers(2) + entry,
          .scale = reinterpret_cast<const double*>(numbers(1)) + entry,
          .high = has_high_words_
                      ? S16HighWords{high_words() + entry, high_words() + entries_ + entry,
                                     offsets() + entry / 2, offsets() + entries_ / 2 + entry / 2}
                      : S16HighWords{}};
}

void SetTileRows(const S16Shape& shape, const int16_t* src, const TileRows& tile,
                 const int16_t** rows) noexcept {
  if (ReadsItsOwnPixel(shape)) {
    const int16_t* first = src + tile.first * shape.ic + tile.offset;
    for (int64_t p = 0; p < tile.pixels; ++p) rows[p] = first + p * shape.ic;
    return;
  }
  for (int64_t p = 0; p < tile.pixels;) {
    const int64_t m = tile.first + p, run = std::min(tile.pixels - p, shape.ow - m % shape.ow);
    SetRun(shape, src, tile, {p, run}, rows);
    p += run;
  }
}

}  // namespace rshift
