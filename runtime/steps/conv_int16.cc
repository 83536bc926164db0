// Convolutions and matrix products of 16-bit integers. Weights are widened to pairs of s16 at load,
// panels of 64 channels; a tile of 12 output pixels meets one panel at a time. Sums are exact in 32
// bits where the weights prove it, else they are taken over to 64 bits after every segment of them.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/round_up.h"
#include "quantize/numerics/int16.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/steps/conv_share.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// The geometry of a convolution; a matrix product has one tap, its rows are pixels of one column.
struct S16Shape {
  Window window;
  int64_t batch = 1, ih = 1, iw = 1, ic = 0, oh = 1, ow = 1, oc = 0, groups = 1;
  int64_t pixels() const { return batch * oh * ow; }
  int64_t taps() const { return window.kernel_h * window.kernel_w; }
  int64_t group_ic() const { return ic / groups; }
  int64_t group_oc() const { return oc / groups; }
};

// Products whose sum fits 32 bits, whatever the input is: taps [tap, tap + taps), pairs of input
// channels [pair, pair + pairs) of each.
struct Segment {
  int64_t tap = 0, taps = 0, pair = 0, pairs = 0;
};

constexpr int64_t kMostSum = INT32_MAX;

// Over channels: the largest sum of |w|, the largest |w|, the largest accumulator.
struct WeightBounds {
  int64_t sum = 0, one = 1, accumulator = 0;
};

int64_t BiasOf(const uint8_t* records, int64_t channel) {
  int32_t bias;
  std::memcpy(&bias, records + channel * static_cast<int64_t>(sizeof(ChannelRequant)), sizeof bias);
  return bias;
}

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

std::vector<Segment> Segments(int64_t taps, int64_t pairs, const WeightBounds& bounds) {
  if (bounds.sum * numerics::kInt16Magnitude <= kMostSum) return {{0, taps, 0, pairs}};
  const int64_t most = kMostSum / numerics::kInt16Magnitude / bounds.one / 2;  // pairs: 258 or more
  std::vector<Segment> segments;
  if (pairs <= most) {
    const int64_t step = most / pairs;
    for (int64_t tap = 0; tap < taps; tap += step)
      segments.push_back({tap, std::min(step, taps - tap), 0, pairs});
    return segments;
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t pair = 0; pair < pairs; pair += most)
      segments.push_back({tap, 1, pair, std::min(most, pairs - pair)});
  }
  return segments;
}

// The records of all channels, `entries` of them: Entry(c) of channel c, the others flush to 0.
class ChannelWords {
 public:
  ChannelWords(const StepContext& context, int64_t channels, int64_t per_group, int64_t padded)
      : memory_(3 * sizeof(int64_t) *
                static_cast<size_t>(
                    RoundUp(channels / std::max<int64_t>(per_group, 1) * padded, int64_t{16}))),
        entries_(static_cast<int64_t>(memory_.size() / sizeof(int64_t) / 3)) {
    std::memset(memory_.data(), 0, memory_.size());
    const uint8_t* records = context.In<uint8_t>(Field::kRequant);
    for (int64_t c = 0; c < channels; ++c) {
      ChannelRequant record;
      std::memcpy(&record, records + c * static_cast<int64_t>(sizeof record), sizeof record);
      const int64_t at = c / per_group * padded + c % per_group;
      constexpr int kZeros = numerics::kInt16MultiplierZeros;
      numbers(0)[at] = record.bias;
      numbers(1)[at] = record.multiplier >> kZeros;
      numbers(2)[at] = std::max(record.rshift - kZeros, 0);
      below_one_ = below_one_ && (record.multiplier == 0 || record.rshift >= 24 + kZeros);
    }
  }
  S16Channels At(int64_t entry) noexcept {
    return {below_one_, numbers(0) + entry, numbers(1) + entry, numbers(2) + entry};
  }
  size_t bytes() const { return memory_.size(); }

 private:
  int64_t* numbers(int64_t list) {
    return reinterpret_cast<int64_t*>(memory_.data()) + list * entries_;
  }
  AlignedBuffer memory_;
  int64_t entries_;
  bool below_one_ = true;
};

// f(tap, the first input channel of output pixel m under it), null for a pad.
class TapRows {
 public:
  TapRows(const S16Shape& shape, const int16_t* src) : s_(shape), src_(src) {}
  template <typename F>
  void ForEach(int64_t m, const F& f) const noexcept {
    const Window& w = s_.window;
    const int64_t x0 = m % s_.ow * w.stride_w - w.pad_left, row = m / s_.ow;
    const int64_t y0 = row % s_.oh * w.stride_h - w.pad_top;
    const int16_t* image = src_ + row / s_.oh * s_.ih * s_.iw * s_.ic;
    int64_t tap = 0;
    for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
      const int64_t y = y0 + ky * w.dilation_h;
      for (int64_t kx = 0; kx < w.kernel_w; ++kx, ++tap) {
        const int64_t x = x0 + kx * w.dilation_w;
        const bool inside = y >= 0 && y < s_.ih && x >= 0 && x < s_.iw;
        f(tap, inside ? image + (y * s_.iw + x) * s_.ic : nullptr);
      }
    }
  }

 private:
  S16Shape s_;
  const int16_t* src_;
};

class ConvS16Step : public Step {
 public:
  ConvS16Step(const StepContext& context, const S16Shape& shape, const ClampQ& clamp,
              Rounding rounding)
      : shape_(shape),
        panels_(CeilDiv(shape.group_oc(), kS16Channels)),
        pairs_(CeilDiv(shape.group_ic(), 2)),
        bounds_(BoundsOf(context, clamp)),
        kernel_(KernelsFor(context.isa).conv_s16),
        loops_(Int16LoopsFor(context.isa)),
        words_(context, shape.oc, shape.group_oc(), panels_ * kS16Channels),
        other_(context, rounding),
        zeros_(sizeof(int16_t) * static_cast<size_t>(shape.group_ic() + 32)),
        weights_(sizeof(int16_t) *
                 static_cast<size_t>(shape.groups * panels_ * shape.taps() * TapSize())),
        scratch_(ScratchBytes(), context.threads),
        rows_(shape, context.In<int16_t>(Field::kSrc)),
        dst_(context) {
    std::memset(zeros_.data(), 0, zeros_.size());
    const auto* w = context.In<int8_t>(Field::kWeights);
    Pack(w);
    const WeightBounds bounds = BoundsOfWeights(w, context.In<uint8_t>(Field::kRequant), shape.oc,
                                                shape.taps() * shape.group_ic());
    segments_ = Segments(shape.taps(), pairs_, bounds);
    fits_ = bounds.accumulator <= kMostSum && !other_.used();
  }

  void Run(const Team& team) noexcept override {
    const int64_t all = shape_.groups * panels_, tiles = CeilDiv(shape_.pixels(), kS16Pixels);
    const Range part = ThreadRange(tiles * all, 1, team);
    auto* rows = static_cast<const int16_t**>(scratch_.For(team));
    int64_t ready = -1;  // the tile and group whose rows are there
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t tile = item / all, group = item % all / panels_;
      const int64_t first = tile * kS16Pixels;
      const int64_t pixels = std::min(kS16Pixels, shape_.pixels() - first);
      if (ready != tile * shape_.groups + group) SetRows(first, pixels, group, rows);
      ready = tile * shape_.groups + group;
      RunTile(rows, first, pixels, group, item % panels_);
    }
  }

  size_t memory_bytes() const override {
    return words_.bytes() + zeros_.size() + weights_.size() + scratch_.bytes();
  }

 private:
  static int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
  // Numbers of a panel's weights under one tap.
  int64_t TapSize() const { return pairs_ * 2 * kS16Channels; }
  size_t ScratchBytes() const {
    return sizeof(const int16_t*) * static_cast<size_t>(shape_.taps() * kS16Pixels);
  }

  // [OC][tap][ic] -> [group][panel][tap][pair][64][2].
  void Pack(const int8_t* w) {
    auto* to = reinterpret_cast<int16_t*>(weights_.data());
    std::memset(to, 0, weights_.size());
    const int64_t ic = shape_.group_ic(), taps = shape_.taps();
    for (int64_t c = 0; c < shape_.oc; ++c) {
      const int64_t group = c / shape_.group_oc(), local = c % shape_.group_oc();
      int16_t* panel = to + (group * panels_ + local / kS16Channels) * taps * TapSize();
      for (int64_t k = 0; k < taps * ic; ++k) {
        const int64_t i = k % ic;
        panel[k / ic * TapSize() + (i / 2 * kS16Channels + local % kS16Channels) * 2 + i % 2] =
            w[c * taps * ic + k];
      }
    }
  }

  void SetRows(int64_t first, int64_t pixels, int64_t group, const int16_t** rows) const noexcept {
    const auto* zeros = reinterpret_cast<const int16_t*>(zeros_.data());
    for (int64_t p = 0; p < pixels; ++p) {
      rows_.ForEach(first + p, [&](int64_t tap, const int16_t* row) {
        rows[tap * pixels + p] = row == nullptr ? zeros : row + group * shape_.group_ic();
      });
    }
  }

  void RunTile(const int16_t* const* rows, int64_t first, int64_t pixels, int64_t group,
               int64_t panel) noexcept {
    const int64_t channel = panel * kS16Channels;
    const int64_t count = std::min(kS16Channels, shape_.group_oc() - channel);
    const int64_t at = first * shape_.oc + group * shape_.group_oc() + channel;
    const S16Channels words = words_.At((group * panels_ + panel) * kS16Channels);
    if (fits_) {
      alignas(64) int32_t sums[kS16Pixels * kS16Channels];
      kernel_({.pixels = pixels,
               .channels = count,
               .taps = shape_.taps(),
               .rows = rows,
               .pairs = pairs_,
               .weights = PanelOf(group, panel),
               .tap_step = TapSize(),
               .sums = sums});
      loops_.finish_tile({.sums = sums,
                          .pixels = pixels,
                          .step = kS16Channels,
                          .count = count,
                          .dst = dst_.At(at),
                          .pitch = dst_.BytesOf(shape_.oc),
                          .type = dst_.type()},
                         words, bounds_);
    } else {
      alignas(64) int64_t acc[kS16Pixels * kS16Channels] = {};
      AddSegments(rows, pixels, PanelOf(group, panel), acc);
      for (int64_t p = 0; p < pixels; ++p) {
        alignas(64) int32_t y[kS16Channels];
        if (other_.used()) {
          other_.Requantize(acc + p * kS16Channels, group * shape_.group_oc() + channel, count,
                            bounds_, y);
        } else {
          loops_.requantize(acc + p * kS16Channels, count, words, bounds_, y);
        }
        dst_.Write(y, at + p * shape_.oc, count);
      }
    }
  }

  const int16_t* PanelOf(int64_t group, int64_t panel) const noexcept {
    return reinterpret_cast<const int16_t*>(weights_.data()) +
           (group * panels_ + panel) * shape_.taps() * TapSize();
  }

  // Sums that leave 32 bits, segment by segment.
  void AddSegments(const int16_t* const* rows, int64_t pixels, const int16_t* weights,
                   int64_t* acc) const noexcept {
    alignas(64) int32_t sums[kS16Pixels * kS16Channels];
    for (const Segment& s : segments_) {
      const int16_t* shifted[kS16Pixels];
      ConvS16Tile tile{.pixels = pixels,
                       .channels = kS16Channels,
                       .taps = s.taps,
                       .rows = rows + s.tap * pixels,
                       .pairs = s.pairs,
                       .weights = weights + s.tap * TapSize() + s.pair * 2 * kS16Channels,
                       .tap_step = TapSize(),
                       .sums = sums};
      if (s.pair > 0) {  // then the segment has one tap
        for (int64_t p = 0; p < pixels; ++p) shifted[p] = rows[s.tap * pixels + p] + 2 * s.pair;
        tile.rows = shifted;
      }
      kernel_(tile);
      loops_.add_sums(sums, pixels * kS16Channels, acc);
    }
  }

  const S16Shape shape_;
  const int64_t panels_, pairs_;
  const S16Bounds bounds_;
  const ConvS16Fn kernel_;
  const Int16Table& loops_;
  ChannelWords words_;
  OtherRounding other_;
  AlignedBuffer zeros_, weights_;
  ThreadScratch scratch_;
  TapRows rows_;
  NarrowedOutput dst_;
  std::vector<Segment> segments_;
  bool fits_ = false;  // every accumulator fits 32 bits, and the rounding is the loops'
};

// One filter for each channel: blocks of channels, tap by tap.
class DepthwiseS16Step : public Step {
 public:
  DepthwiseS16Step(const StepContext& context, const S16Shape& shape, const ClampQ& clamp,
                   Rounding rounding)
      : shape_(shape),
        bounds_(BoundsOf(context, clamp)),
        loops_(Int16LoopsFor(context.isa)),
        words_(context, shape.oc, shape.oc, RoundUp(shape.oc, int64_t{16})),
        other_(context, rounding),
        weights_(sizeof(int16_t) * static_cast<size_t>(shape.taps() * shape.oc)),
        rows_(shape, context.In<int16_t>(Field::kSrc)),
        dst_(context) {
    const auto* w = context.In<int8_t>(Field::kWeights);
    auto* to = reinterpret_cast<int16_t*>(weights_.data());
    const int64_t taps = shape.taps();
    for (int64_t c = 0; c < shape.oc; ++c) {
      for (int64_t tap = 0; tap < taps; ++tap) to[tap * shape.oc + c] = w[c * taps + tap];
    }
    const WeightBounds bounds =
        BoundsOfWeights(w, context.In<uint8_t>(Field::kRequant), shape.oc, taps);
    together_ = bounds.sum * numerics::kInt16Magnitude <= kMostSum
                    ? taps
                    : kMostSum / numerics::kInt16Magnitude / bounds.one;
  }

  void Run(const Team& team) noexcept override {
    const int64_t blocks = (shape_.oc + kS16Block - 1) / kS16Block;
    const Range part = ThreadRange(shape_.pixels() * blocks, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item)
      RunBlock(item / blocks, item % blocks * kS16Block);
  }

  size_t memory_bytes() const override { return words_.bytes() + weights_.size(); }

 private:
  void RunBlock(int64_t m, int64_t channel) noexcept {
    const int64_t n = std::min(kS16Block, shape_.oc - channel);
    alignas(64) int64_t acc[kS16Block] = {};
    const auto* w = reinterpret_cast<const int16_t*>(weights_.data()) + channel;
    alignas(64) int32_t sums[kS16Block] = {};
    rows_.ForEach(m, [&](int64_t tap, const int16_t* x) {
      if (tap > 0 && tap % together_ == 0) {
        loops_.add_sums(sums, n, acc);
        std::fill_n(sums, n, 0);
      }
      if (x != nullptr) loops_.add_products(x + channel, w + tap * shape_.oc, n, sums);
    });
    loops_.add_sums(sums, n, acc);
    alignas(64) int32_t y[kS16Block];
    if (other_.used()) {
      other_.Requantize(acc, channel, n, bounds_, y);
    } else {
      loops_.requantize(acc, n, words_.At(channel), bounds_, y);
    }
    dst_.Write(y, m * shape_.oc + channel, n);
  }

  const S16Shape shape_;
  const S16Bounds bounds_;
  const Int16Table& loops_;
  ChannelWords words_;
  OtherRounding other_;
  AlignedBuffer weights_;
  TapRows rows_;
  NarrowedOutput dst_;
  int64_t together_ = 1;  // taps whose sum fits 32 bits
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvS16& c) {
  const Shape& x = context.Record(Field::kSrc).shape;
  const Shape& y = context.Record(Field::kDst).shape;
  const S16Shape shape{c.window, x[0], x[1], x[2], x[3], y[1], y[2], y[3], c.groups};
  if (c.groups > 1 && c.groups == shape.ic && c.groups == shape.oc)
    return std::make_unique<DepthwiseS16Step>(context, shape, c.clamp, c.rounding);
  return std::make_unique<ConvS16Step>(context, shape, c.clamp, c.rounding);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MatMulS16& c) {
  const Shape& x = context.Record(Field::kSrc).shape;
  const int64_t k = x.back(), rows = NumElements(Shape(x.begin(), x.end() - 1));
  const S16Shape shape{{}, 1, rows, 1, k, rows, 1, context.Record(Field::kDst).shape.back(), 1};
  return std::make_unique<ConvS16Step>(context, shape, c.clamp, c.rounding);
}

}  // namespace rshift
