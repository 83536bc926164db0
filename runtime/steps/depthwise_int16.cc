// Depthwise convolutions of 16-bit integers: a tile of 12 output pixels meets a panel of 64
// channels at a time, taps in pairs. Sums as of conv_int16.cc.
#include <algorithm>
#include <cstring>

#include "base/round_up.h"
#include "quantize/numerics/int16.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/steps/conv_int16.h"
#include "runtime/steps/conv_share.h"
#include "runtime/steps/int16.h"

namespace rshift {
namespace {

constexpr int64_t kPairOfPanel = 2 * kS16Channels;  // weights of a panel under a pair of taps

class DepthwiseS16Step : public Step {
 public:
  DepthwiseS16Step(const StepContext& context, const S16Shape& shape, const ClampQ& clamp,
                   Rounding rounding)
      : shape_(shape),
        panels_(RoundUp(shape.oc, kS16Channels) / kS16Channels),
        pairs_((shape.taps() + 1) / 2),
        bounds_(BoundsOf(context, clamp)),
        kernel_(KernelsFor(context.isa).depthwise_s16),
        loops_(Int16LoopsFor(context.isa)),
        finish_(Int16FinishFor(context.isa)),
        words_(context, rounding, shape.oc, shape.oc, panels_ * kS16Channels),
        zeros_(sizeof(int16_t) * static_cast<size_t>(shape.oc + 32)),
        weights_(sizeof(int16_t) * static_cast<size_t>(panels_ * pairs_ * kPairOfPanel)),
        scratch_(sizeof(const int16_t*) * static_cast<size_t>(2 * pairs_ * kS16Pixels),
                 context.threads),
        src_(context.In<int16_t>(Field::kSrc)),
        dst_(context) {
    std::memset(zeros_.data(), 0, zeros_.size());
    const auto* w = context.In<int8_t>(Field::kWeights);
    Pack(w);
    const WeightBounds bounds =
        BoundsOfWeights(w, context.In<uint8_t>(Field::kRequant), shape.oc, shape.taps());
    fits_ = bounds.accumulator <= kMostSum;
    together_ = bounds.sum * numerics::kInt16Magnitude <= kMostSum
                    ? pairs_
                    : kMostSum / numerics::kInt16Magnitude / bounds.one / 2;
  }

  void Run(const Team& team) noexcept override {
    const int64_t tiles = RoundUp(shape_.pixels(), kS16Pixels) / kS16Pixels;
    const Range part = ThreadRange(tiles * panels_, 1, team);
    auto* rows = static_cast<const int16_t**>(scratch_.For(team));
    int64_t ready = -1;  // the tile whose rows are there
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t tile = item / panels_, first = tile * kS16Pixels;
      const int64_t pixels = std::min(kS16Pixels, shape_.pixels() - first);
      if (ready != tile) SetRows(first, pixels, rows);
      ready = tile;
      RunTile(rows, first, pixels, item % panels_);
    }
  }

  size_t memory_bytes() const override {
    return words_.bytes() + zeros_.size() + weights_.size() + scratch_.bytes();
  }

 private:
  // [C][tap] -> [panel][pair][64][2].
  void Pack(const int8_t* w) {
    auto* to = reinterpret_cast<int16_t*>(weights_.data());
    std::memset(to, 0, weights_.size());
    const int64_t taps = shape_.taps();
    for (int64_t c = 0; c < shape_.oc; ++c) {
      int16_t* panel = to + c / kS16Channels * pairs_ * kPairOfPanel + c % kS16Channels * 2;
      for (int64_t tap = 0; tap < taps; ++tap)
        panel[tap / 2 * kPairOfPanel + tap % 2] = w[c * taps + tap];
    }
  }

  void SetRows(int64_t first, int64_t pixels, const int16_t** rows) const noexcept {
    const auto* zeros = reinterpret_cast<const int16_t*>(zeros_.data());
    SetTileRows(shape_, src_, {first, pixels, 0, zeros}, rows);
    if (2 * pairs_ > shape_.taps()) std::fill_n(rows + shape_.taps() * pixels, pixels, zeros);
  }

  void RunTile(const int16_t* const* rows, int64_t first, int64_t pixels, int64_t panel) noexcept {
    const int64_t channel = panel * kS16Channels;
    const int64_t count = std::min(kS16Channels, shape_.oc - channel);
    const int64_t at = first * shape_.oc + channel;
    const auto* weights =
        reinterpret_cast<const int16_t*>(weights_.data()) + panel * pairs_ * kPairOfPanel;
    alignas(64) int32_t sums[kS16Pixels * kS16Channels];
    const auto run = [&](int64_t pair, int64_t pairs) {
      kernel_({.pixels = pixels,
               .channels = count,
               .offset = channel,
               .pairs = pairs,
               .rows = rows + 2 * pair * pixels,
               .weights = weights + pair * kPairOfPanel,
               .pair_step = kPairOfPanel,
               .sums = sums});
    };
    if (fits_) {
      run(0, pairs_);
      finish_.finish_tile({.sums = sums,
                           .pixels = pixels,
                           .step = kS16Channels,
                           .count = count,
                           .dst = dst_.At(at),
                           .pitch = dst_.BytesOf(shape_.oc),
                           .type = dst_.type()},
                          words_.At(channel), bounds_);
      return;
    }
    alignas(64) int64_t acc[kS16Pixels * kS16Channels] = {};
    std::fill_n(sums, kS16Pixels * kS16Channels, 0);  // kernels write no more channels than count
    for (int64_t pair = 0; pair < pairs_; pair += together_) {
      run(pair, std::min(together_, pairs_ - pair));
      loops_.add_sums(sums, pixels * kS16Channels, acc);
    }
    for (int64_t p = 0; p < pixels; ++p) {
      alignas(64) int32_t y[kS16Channels];
      finish_.requantize(acc + p * kS16Channels, count, words_.At(channel), bounds_, y);
      dst_.Write(y, at + p * shape_.oc, count);
    }
  }

  const S16Shape shape_;
  const int64_t panels_, pairs_;
  const S16Bounds bounds_;
  const DepthwiseS16Fn kernel_;
  const Int16Table& loops_;
  const Int16FinishTable& finish_;
  ChannelWords words_;
  AlignedBuffer zeros_, weights_;
  ThreadScratch scratch_;
  const int16_t* src_;
  NarrowedOutput dst_;
  int64_t together_ = 1;  // pairs of taps whose sum fits 32 bits
  bool fits_ = false;     // every accumulator fits 32 bits
};

}  // namespace

std::unique_ptr<Step> MakeDepthwiseS16(const StepContext& context, const S16Shape& shape,
                                       const ClampQ& clamp, Rounding rounding) {
  return std::make_unique<DepthwiseS16Step>(context, shape, clamp, rounding);
}

}  // namespace rshift
