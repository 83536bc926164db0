// Products of two activations of s16. The second factor is taken apart, b = 256 high + low with low
// in 0..255: sums of 256 products of either fit 32 bits, which the kernel of convolutions of 16-bit
// integers computes, and are put together in 64.
#include <algorithm>
#include <cstring>

#include "base/round_up.h"
#include "quantize/numerics/int16.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/int16_finish.h"
#include "runtime/steps/batch_offsets.h"
#include "runtime/steps/conv_share.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

constexpr int64_t kSegment = 128;  // pairs of products: 256 * 255 * 2^15 is below 2^31

class BatchedMatMulS16Step : public Step {
 public:
  BatchedMatMulS16Step(const StepContext& context, const isa::BatchedMatMulS16& c)
      : bounds_(BoundsOf(context, c.clamp)),
        kernel_(KernelsFor(context.isa).conv_s16),
        finish_(Int16FinishFor(context.isa)),
        src_(context.In<int16_t>(Field::kSrc)),
        src2_(context.In<int16_t>(Field::kSrc2)),
        dst_(context),
        scratch_(0, 1) {
    SetShapes(context.Record(Field::kSrc).shape, context.Record(Field::kSrc2).shape,
              context.Record(Field::kDst).shape);
    const int32_t zeros = numerics::ProductZeros(c.words);
    std::fill_n(multiplier_, kS16Channels, int64_t{c.words.multiplier >> zeros});
    std::fill_n(rshift_, kS16Channels, int64_t{c.words.rshift - zeros});
    pairs_ = (k_ + 1) / 2;
    panels_ = RoundUp(n_, kS16Channels) / kS16Channels;
    scratch_ = {sizeof(int16_t) * static_cast<size_t>(2 * panels_ * PanelSize()), context.threads};
  }

  void Run(const Team& team) noexcept override {
    auto* packed = static_cast<int16_t*>(scratch_.For(team));
    const bool by_columns = m_ < kFewRows * team.count && batches_ < team.count;
    const Range rows = by_columns ? Range{0, batches_ * m_} : ThreadRange(batches_ * m_, 1, team);
    const Range panels = by_columns ? ThreadRange(panels_, 1, team) : Range{0, panels_};
    if (panels.begin == panels.end) return;
    int64_t packed_from = -1;
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t batch = row / m_, first = row - batch * m_;
      const int64_t count = std::min(kS16Pixels, std::min(m_, first + rows.end - row) - first);
      const int64_t from = offsets_b_.Of(batch);
      if (from != packed_from) Pack(src2_ + from, panels, packed);
      packed_from = from;
      const int16_t* a = src_ + offsets_a_.Of(batch) + first * k_;
      for (int64_t panel = panels.begin; panel < panels.end; ++panel)
        RunTile(a, count, packed + 2 * panel * PanelSize(), row, panel * kS16Channels);
      row += count;
    }
  }

  size_t memory_bytes() const override { return scratch_.bytes(); }

 private:
  // Numbers of one half of a panel: [pair][64][2].
  int64_t PanelSize() const { return pairs_ * 2 * kS16Channels; }

  void SetShapes(const Shape& a, const Shape& b, const Shape& dst) {
    m_ = a[a.size() - 2], k_ = a.back(), n_ = b.back();
    const Shape batches(dst.begin(), dst.end() - 2);
    batches_ = NumElements(batches);
    offsets_a_ = {batches, a};
    offsets_b_ = {batches, b};
  }

  // Panels of the matrix at `b`: the high halves, then the low ones.
  void Pack(const int16_t* b, const Range& panels, int16_t* packed) const noexcept {
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t first = panel * kS16Channels, real = std::min(kS16Channels, n_ - first);
      int16_t* high = packed + 2 * panel * PanelSize();
      int16_t* low = high + PanelSize();
      std::memset(high, 0, static_cast<size_t>(2 * PanelSize()) * sizeof *high);
      for (int64_t k = 0; k < k_; ++k) {
        const int16_t* row = b + k * n_ + first;
        const int64_t at = k / 2 * 2 * kS16Channels + k % 2;
        for (int64_t c = 0; c < real; ++c) {
          high[at + 2 * c] = static_cast<int16_t>(row[c] >> 8);
          low[at + 2 * c] = static_cast<int16_t>(row[c] & 255);
        }
      }
    }
  }

  // `count` rows at `a`, which become rows from `row` on, columns from `column` on.
  void RunTile(const int16_t* a, int64_t count, const int16_t* weights, int64_t row,
               int64_t column) noexcept {
    const int64_t columns = std::min(kS16Channels, n_ - column);
    alignas(64) int64_t acc[kS16Pixels * kS16Channels];
    alignas(64) int32_t sums[kS16Pixels * kS16Channels];
    for (int64_t p = 0; p < count; ++p) std::fill_n(acc + p * kS16Channels, columns, 0);
    const auto add = [&](int64_t factor) {
      for (int64_t p = 0; p < count; ++p) {
        int64_t* to = acc + p * kS16Channels;
        const int32_t* from = sums + p * kS16Channels;
        for (int64_t i = 0; i < columns; ++i) to[i] += from[i] * factor;
      }
    };
    for (int64_t pair = 0; pair < pairs_; pair += kSegment) {
      const int16_t* rows[kS16Pixels];
      for (int64_t p = 0; p < count; ++p) rows[p] = a + p * k_ + 2 * pair;
      ConvS16Tile tile{.pixels = count,
                       .channels = columns,
                       .taps = 1,
                       .rows = rows,
                       .pairs = std::min(kSegment, pairs_ - pair),
                       .weights = weights + pair * 2 * kS16Channels,
                       .sums = sums};
      kernel_(tile);
      add(256);
      tile.weights += PanelSize();
      kernel_(tile);
      add(1);
    }
    const S16Channels words{.bias = bias_, .multiplier = multiplier_, .rshift = rshift_};
    for (int64_t p = 0; p < count; ++p) {
      alignas(64) int32_t y[kS16Channels];
      finish_.requantize(acc + p * kS16Channels, columns, words, bounds_, y);
      dst_.Write(y, (row + p) * n_ + column, columns);
    }
  }

  const S16Bounds bounds_;
  const ConvS16Fn kernel_;
  const Int16FinishTable& finish_;
  const int16_t *src_, *src2_;
  NarrowedOutput dst_;
  int64_t batches_ = 1, m_ = 0, k_ = 0, n_ = 0, pairs_ = 0, panels_ = 0;
  BatchOffsets offsets_a_, offsets_b_;
  alignas(64) int64_t bias_[kS16Channels] = {}, multiplier_[kS16Channels], rshift_[kS16Channels];
  ThreadScratch scratch_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::BatchedMatMulS16& c) {
  return std::make_unique<BatchedMatMulS16Step>(context, c);
}

}  // namespace rshift
