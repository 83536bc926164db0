// Convolutions and matrix products of 16-bit integers. Weights are widened to pairs of s16 at load,
// panels of 64 channels; a tile of 12 output pixels, or a block of tiles where the weights are
// many, meets one panel at a time. Sums are exact in 32 bits where the weights prove it, else they
// are taken over to 64 bits after every segment of them.
#include "runtime/steps/conv_int16.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "quantize/numerics/int16.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/shared_weights.h"
#include "runtime/steps/conv_share.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Products whose sum fits 32 bits, whatever the input is: taps [tap, tap + taps), pairs of input
// channels [pair, pair + pairs) of each.
struct Segment {
  int64_t tap = 0, taps = 0, pair = 0, pairs = 0;
};

// Sums of |w| over the input channels of a tap, for each output channel.
std::vector<int64_t> TapSums(const S16Shape& shape, const int8_t* w, int64_t tap) {
  std::vector<int64_t> sums(static_cast<size_t>(shape.oc));
  for (int64_t c = 0; c < shape.oc; ++c) {
    const int8_t* of = w + (c * shape.taps() + tap) * shape.group_ic();
    for (int64_t i = 0; i < shape.group_ic(); ++i)
      sums[static_cast<size_t>(c)] += std::abs(int32_t{of[i]});
  }
  return sums;
}

bool Fits32(const std::vector<int64_t>& sums) {
  return *std::ranges::max_element(sums) * numerics::kInt16Magnitude <= kMostSum;
}

// As many taps together as fit, or parts of one tap.
std::vector<Segment> Segments(const S16Shape& shape, const int8_t* w, const WeightBounds& bounds) {
  const int64_t taps = shape.taps(), pairs = CeilDiv(shape.group_ic(), 2);
  if (bounds.sum * numerics::kInt16Magnitude <= kMostSum) return {{0, taps, 0, pairs}};
  const int64_t most = kMostSum / numerics::kInt16Magnitude / bounds.one / 2;  // pairs: 255 or more
  std::vector<Segment> segments;
  std::vector<int64_t> together;  // of the last segment
  for (int64_t tap = 0; tap < taps; ++tap) {
    const std::vector<int64_t> sums = TapSums(shape, w, tap);
    if (!Fits32(sums)) {
      for (int64_t pair = 0; pair < pairs; pair += most)
        segments.push_back({tap, 1, pair, std::min(most, pairs - pair)});
      together.clear();
      continue;
    }
    std::vector<int64_t> longer = sums;
    for (size_t c = 0; c < together.size(); ++c) longer[c] += together[c];
    if (!together.empty() && Fits32(longer)) {
      ++segments.back().taps;
      together = std::move(longer);
    } else {
      segments.push_back({tap, 1, 0, pairs});
      together = sums;
    }
  }
  return segments;
}

class ConvS16Step : public Step {
 public:
  ConvS16Step(const StepContext& context, const S16Shape& shape, const ClampQ& clamp,
              Rounding rounding)
      : shape_(shape),
        panels_(CeilDiv(shape.group_oc(), kS16Channels)),
        pairs_(CeilDiv(shape.group_ic(), 2)),
        blocks_(Blocks(context.threads)),
        bounds_(BoundsOf(context, clamp)),
        kernel_(KernelsFor(context.isa).conv_s16),
        loops_(Int16LoopsFor(context.isa)),
        finish_(Int16FinishFor(context.isa)),
        words_(context, rounding, shape.oc, shape.group_oc(), panels_ * kS16Channels),
        zeros_(sizeof(int16_t) * static_cast<size_t>(shape.group_ic() + 32)),
        scratch_(ScratchBytes(), context.threads),
        src_(context.In<int16_t>(Field::kSrc)),
        dst_(context),
        sums_(context.Record(Field::kDst).dtype == DType::kS32 ? context.Out<int32_t>(Field::kDst)
                                                               : nullptr) {
    std::memset(zeros_.data(), 0, zeros_.size());
    const auto* w = context.In<int8_t>(Field::kWeights);
    weights_ = context.weights->Get(
        {w, {shape.groups, shape.group_oc(), shape.taps(), shape.group_ic()}},
        sizeof(int16_t) * static_cast<size_t>(shape.groups * panels_ * shape.taps() * TapSize()),
        [&](AlignedBuffer& packed) { Pack(w, packed); });
    if (sums_ != nullptr) return;  // proved to fit 32 bits
    const WeightBounds bounds = BoundsOfWeights(w, context.In<uint8_t>(Field::kRequant), shape.oc,
                                                shape.taps() * shape.group_ic());
    segments_ = Segments(shape, w, bounds);
    fits_ = bounds.accumulator <= kMostSum;
  }

  void Run(const Team& team) noexcept override {
    const int64_t all = shape_.groups * panels_, tiles = CeilDiv(shape_.pixels(), kS16Pixels);
    const Range part = ThreadRange(blocks_ * all, 1, team);
    auto* rows = static_cast<const int16_t**>(scratch_.For(team));
    int64_t ready = -1;  // the block and group whose rows are there
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t block = item / all, group = item % all / panels_;
      const int64_t first = tiles * block / blocks_, end = tiles * (block + 1) / blocks_;
      if (ready != block * shape_.groups + group) {
        for (int64_t tile = first; tile < end; ++tile)
          SetRows(tile, group, rows + (tile - first) * RowsOfTile());
      }
      ready = block * shape_.groups + group;
      for (int64_t tile = first; tile < end; ++tile)
        RunTile(rows + (tile - first) * RowsOfTile(), tile, group, item % panels_);
    }
  }

  size_t memory_bytes() const override {
    const size_t weights = weights_.is_new ? weights_.buffer->size() : 0;
    return words_.bytes() + zeros_.size() + weights + scratch_.bytes();
  }

 private:
  // Numbers of a panel's weights under one tap.
  int64_t TapSize() const { return pairs_ * 2 * kS16Channels; }
  int64_t RowsOfTile() const { return shape_.taps() * kS16Pixels; }
  size_t ScratchBytes() const {
    const int64_t tiles = CeilDiv(shape_.pixels(), kS16Pixels);
    return sizeof(const int16_t*) * static_cast<size_t>(CeilDiv(tiles, blocks_) * RowsOfTile());
  }
  // Weights that a cache does not hold are read once for each block of tiles, not for each tile.
  int64_t Blocks(int threads) const {
    constexpr int64_t kLeastItems = 4;
    const int64_t all = shape_.groups * panels_;
    const int64_t tiles = std::max<int64_t>(CeilDiv(shape_.pixels(), kS16Pixels), 1);
    const int64_t bytes = all * shape_.taps() * TapSize() * 2;
    if (bytes <= kS16HeldWeights) return tiles;
    const int64_t row_bytes = RowsOfTile() * static_cast<int64_t>(sizeof(const int16_t*));
    const int64_t most = std::max<int64_t>(kS16BlockRows / row_bytes, 1);
    const int64_t least = CeilDiv(kLeastItems * threads, all);  // so that every thread has some
    return std::clamp(std::max(least, CeilDiv(tiles, most)), int64_t{1}, tiles);
  }

  // [OC][tap][ic] -> [group][panel][tap][pair][64][2].
  void Pack(const int8_t* w, AlignedBuffer& packed) const {
    auto* to = reinterpret_cast<int16_t*>(packed.data());
    std::memset(to, 0, packed.size());
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

  int64_t PixelsOf(int64_t tile) const {
    return std::min(kS16Pixels, shape_.pixels() - tile * kS16Pixels);
  }

  void SetRows(int64_t tile, int64_t group, const int16_t** rows) const noexcept {
    const auto* zeros = reinterpret_cast<const int16_t*>(zeros_.data());
    const int64_t offset = group * shape_.group_ic();
    SetTileRows(shape_, src_, {tile * kS16Pixels, PixelsOf(tile), offset, zeros}, rows);
  }

  void RunTile(const int16_t* const* rows, int64_t tile, int64_t group, int64_t panel) noexcept {
    const int64_t first = tile * kS16Pixels, pixels = PixelsOf(tile);
    const int64_t channel = panel * kS16Channels;
    const int64_t count = std::min(kS16Channels, shape_.group_oc() - channel);
    const int64_t at = first * shape_.oc + group * shape_.group_oc() + channel;
    const S16Channels words = words_.At((group * panels_ + panel) * kS16Channels);
    if (sums_ != nullptr) {
      alignas(64) int32_t sums[kS16Pixels * kS16Channels];
      kernel_(TileOf(rows, pixels, group, panel, count, sums));
      for (int64_t p = 0; p < pixels; ++p)
        std::copy_n(sums + p * kS16Channels, count, sums_ + at + p * shape_.oc);
    } else if (fits_) {
      alignas(64) int32_t sums[kS16Pixels * kS16Channels];
      kernel_(TileOf(rows, pixels, group, panel, count, sums));
      finish_.finish_tile({.sums = sums,
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
        finish_.requantize(acc + p * kS16Channels, count, words, bounds_, y);
        dst_.Write(y, at + p * shape_.oc, count);
      }
    }
  }

  ConvS16Tile TileOf(const int16_t* const* rows, int64_t pixels, int64_t group, int64_t panel,
                     int64_t count, int32_t* sums) const noexcept {
    return {.pixels = pixels,
            .channels = count,
            .taps = shape_.taps(),
            .rows = rows,
            .pairs = pairs_,
            .weights = PanelOf(group, panel),
            .tap_step = TapSize(),
            .sums = sums};
  }

  const int16_t* PanelOf(int64_t group, int64_t panel) const noexcept {
    return reinterpret_cast<const int16_t*>(weights_.buffer->data()) +
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
  const int64_t blocks_;  // of tiles, each of which meets one panel before the next
  const S16Bounds bounds_;
  const ConvS16Fn kernel_;
  const Int16Table& loops_;
  const Int16FinishTable& finish_;
  ChannelWords words_;
  AlignedBuffer zeros_;
  SharedWeights::Share weights_;
  ThreadScratch scratch_;
  const int16_t* src_;
  NarrowedOutput dst_;
  int32_t* sums_;  // where dst has the sums themselves, which fit 32 bits
  std::vector<Segment> segments_;
  bool fits_ = false;  // every accumulator fits 32 bits
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvS16& c) {
  if (context.Record(Field::kSrc).dtype != DType::kS16) return MakeBytesToInt16(context, c);
  const Shape& x = context.Record(Field::kSrc).shape;
  const Shape& y = context.Record(Field::kDst).shape;
  const S16Shape shape{c.window, x[0], x[1], x[2], x[3], y[1], y[2], y[3], c.groups};
  if (c.groups > 1 && c.groups == shape.ic && c.groups == shape.oc)
    return MakeDepthwiseS16(context, shape, c.clamp, c.rounding);
  return std::make_unique<ConvS16Step>(context, shape, c.clamp, c.rounding);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MatMulS16& c) {
  if (context.Record(Field::kSrc).dtype != DType::kS16) return MakeBytesToInt16(context, c);
  const Shape& x = context.Record(Field::kSrc).shape;
  const int64_t k = x.back(), rows = NumElements(Shape(x.begin(), x.end() - 1));
  const S16Shape shape{{}, 1, rows, 1, k, rows, 1, context.Record(Field::kDst).shape.back(), 1};
  return std::make_unique<ConvS16Step>(context, shape, c.clamp, c.rounding);
}

}  // namespace rshift
