// Interpolation of 16-bit integers, first across the rows of the source, then along each: sums of
// 32 and of 64 bits, exact. A block of positions needs the sums of the part of a row that its taps
// read.
#include <algorithm>
#include <span>
#include <vector>

#include "quantize/numerics/resize.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/resize_shape.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

constexpr int32_t kMostTaps = 4;              // of an axis
constexpr int64_t kSums = 8192;               // of a row of the source
constexpr int64_t kResults = 4096;            // of a block
constexpr int64_t kMostPositions = 512;       // of a block
constexpr int64_t kPart = kSums / kMostTaps;  // of `inner` elements

// Output index i reads taps[i * per_output ...]: two or four.
struct Axis {
  int32_t per_output = 2;
  std::vector<S16ResizeTap> taps;  // offset: the index along the source's axis
};

// Taps beyond those of the list have weight 0.
Axis MakeAxis(const ResizeDimension& dim) {
  const std::vector<int32_t> whole = {0, 1};  // a dimension that is not resized
  const std::span<const int32_t> pairs = dim.taps == 0 ? whole : dim.pairs;
  const int32_t own = std::max(dim.taps, 1);
  Axis axis{own <= 2 ? 2 : kMostTaps, {}};
  for (size_t i = 0; i < pairs.size(); i += 2) {
    axis.taps.push_back({pairs[i], pairs[i + 1]});
    const bool last = (i / 2 + 1) % static_cast<size_t>(own) == 0;
    for (int32_t k = own; last && k < axis.per_output; ++k) axis.taps.push_back({pairs[i], 0});
  }
  return axis;
}

class ResizeS16Step : public Step {
 public:
  ResizeS16Step(const StepContext& context, const isa::ResizeS16& c)
      : loops_(Int16LoopsFor(context.isa)),
        words_(c.words),
        bounds_(BoundsOf(context, c.clamp)),
        src_(context.In<int16_t>(Field::kSrc)),
        dst_(context),
        shape_(ReadResizeShape(context)) {
    if (shape_.positions == 0) return;
    first_ = MakeAxis(shape_.first);
    second_ = MakeAxis(shape_.second);
  }

  void Run(const Team& team) noexcept override {
    const Range range = ThreadRange(shape_.positions, shape_.inner < 64 ? 64 : 1, team);
    const int64_t width = shape_.second.size, inner = shape_.inner;
    const int64_t together = std::clamp<int64_t>(kResults / inner, 1, kMostPositions);
    for (int64_t at = range.begin; at < range.end;) {
      Rows rows = RowsOf(at / width);
      const int64_t x = at % width, most = std::min({together, width - x, range.end - at});
      at += inner <= kPart ? RunBlock(rows, at, x, most) : RunPosition(rows, at, x);
    }
  }

  size_t memory_bytes() const override {
    return (first_.taps.size() + second_.taps.size()) * sizeof(S16ResizeTap);
  }

 private:
  // What is summed across the rows of the source for one row of dst.
  struct Rows {
    const int16_t* at[kMostTaps] = {};
    int32_t weights[kMostTaps] = {};
  };

  Rows RowsOf(int64_t row) const noexcept {
    const int64_t between = row % shape_.between, line = row / shape_.between;
    const int64_t height = shape_.first.size, length = shape_.in_second * shape_.inner;
    const int64_t image = line / height * shape_.in_first;
    const S16ResizeTap* taps = first_.taps.data() + line % height * first_.per_output;
    Rows rows;
    for (int32_t k = 0; k < first_.per_output; ++k) {
      rows.at[k] = src_ + ((image + taps[k].offset) * shape_.between + between) * length;
      rows.weights[k] = taps[k].weight;
    }
    return rows;
  }

  const S16ResizeTap* TapsAt(int64_t x) const noexcept {
    return second_.taps.data() + x * second_.per_output;
  }

  void Weigh(const Rows& rows, int64_t from, int64_t n, int32_t* sums) const noexcept {
    const int16_t* moved[kMostTaps] = {};
    for (int32_t k = 0; k < first_.per_output; ++k) moved[k] = rows.at[k] + from;
    loops_.weigh(moved, rows.weights, first_.per_output, n, sums);
  }

  void Finish(const int32_t* sums, const S16ResizeTap* taps, int64_t positions, int64_t n,
              int64_t to) const noexcept {
    alignas(64) int32_t y[kResults];
    loops_.resize({.sums = sums,
                   .taps = taps,
                   .taps_per_position = second_.per_output,
                   .positions = positions,
                   .n = n,
                   .words = words_,
                   .bounds = bounds_},
                  y);
    dst_.Write(y, to, positions * n);
  }

  // Positions from x on, at most `most`: as many as read a part of the source's row that there is
  // room for. How many there were.
  int64_t RunBlock(const Rows& rows, int64_t at, int64_t x, int64_t most) const noexcept {
    const int64_t inner = shape_.inner, per = second_.per_output, room = kSums / inner;
    const S16ResizeTap* own = TapsAt(x);
    int64_t low = shape_.in_second, high = -1, count = 0;
    for (; count < most; ++count) {
      int64_t new_low = low, new_high = high;
      for (int64_t k = count * per; k < (count + 1) * per; ++k) {
        new_low = std::min<int64_t>(new_low, own[k].offset);
        new_high = std::max<int64_t>(new_high, own[k].offset);
      }
      if (new_high - new_low >= room) break;
      low = new_low, high = new_high;
    }
    if (count == 0) return RunPosition(rows, at, x);
    alignas(64) int32_t sums[kSums];
    S16ResizeTap taps[kMostPositions * kMostTaps];
    Weigh(rows, low * inner, (high - low + 1) * inner, sums);
    for (int64_t k = 0; k < count * per; ++k)
      taps[k] = {static_cast<int32_t>((own[k].offset - low) * inner), own[k].weight};
    Finish(sums, taps, count, inner, at * inner);
    return count;
  }

  // One position by the sums that it reads alone.
  int64_t RunPosition(const Rows& rows, int64_t at, int64_t x) const noexcept {
    const S16ResizeTap* own = TapsAt(x);
    alignas(64) int32_t sums[kSums];
    S16ResizeTap taps[kMostTaps];
    for (int64_t i = 0; i < shape_.inner; i += kPart) {
      const int64_t n = std::min(kPart, shape_.inner - i);
      for (int32_t k = 0; k < second_.per_output; ++k) {
        Weigh(rows, own[k].offset * shape_.inner + i, n, sums + k * kPart);
        taps[k] = {static_cast<int32_t>(k * kPart), own[k].weight};
      }
      Finish(sums, taps, 1, n, at * shape_.inner + i);
    }
    return 1;
  }

  const Int16Table& loops_;
  const RequantWords words_;
  const S16Bounds bounds_;
  const int16_t* src_;
  NarrowedOutput dst_;
  ResizeShape shape_;
  Axis first_, second_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeS16& c) {
  return std::make_unique<ResizeS16Step>(context, c);
}

}  // namespace rshift
