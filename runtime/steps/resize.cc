// Interpolation of bytes: each output position is a sum of 1 to 16 positions of the source, of
// `inner` neighbouring elements (the channels of an NHWC image) at a time.
#include "quantize/numerics/resize.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/shape.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/resize_list.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

struct Tap {
  int64_t offset = 0;  // into the source
  int32_t weight = 0;
};

// Output index i reads taps[i * per_output ...].
struct Dimension {
  int64_t size = 1;
  int per_output = 1;
  std::vector<Tap> taps;
};

constexpr int kMostTaps = 16;
constexpr int64_t kBlock = 256;  // elements summed at a time
constexpr int64_t kRow = 8192;   // elements of the source: the most that RunRows keeps sums of

// Of one output position.
struct TapList {
  int count = 0;
  Tap taps[kMostTaps];
};

// sum[i] = or += the first four taps of `t`, or as many as there are.
template <typename Acc>
void AddTaps(const uint8_t* x, const Tap* t, int count, uint8_t flip, int64_t n, bool first,
             Acc* sum) {
  const auto value = [flip](uint8_t byte) {
    return static_cast<Acc>(static_cast<int8_t>(static_cast<uint8_t>(byte ^ flip)));
  };
  if (first) std::fill_n(sum, n, Acc{0});
  if (count == 2) {
    const uint8_t *a = x + t[0].offset, *b = x + t[1].offset;
    const auto wa = static_cast<Acc>(t[0].weight), wb = static_cast<Acc>(t[1].weight);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      sum[i] = static_cast<Acc>(sum[i] + value(a[i]) * wa + value(b[i]) * wb);
    }
    return;
  }
  if (count == 4) {
    const uint8_t *a = x + t[0].offset, *b = x + t[1].offset;
    const uint8_t *c = x + t[2].offset, *d = x + t[3].offset;
    const auto wa = static_cast<Acc>(t[0].weight), wb = static_cast<Acc>(t[1].weight);
    const auto wc = static_cast<Acc>(t[2].weight), wd = static_cast<Acc>(t[3].weight);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      sum[i] = static_cast<Acc>(sum[i] + value(a[i]) * wa + value(b[i]) * wb + value(c[i]) * wc +
                                value(d[i]) * wd);
    }
    return;
  }
  for (int k = 0; k < count; ++k) {
    const uint8_t* a = x + t[k].offset;
    const auto w = static_cast<Acc>(t[k].weight);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Acc>(sum[i] + value(a[i]) * w);
  }
}

// The same of sums that are there.
template <typename Acc>
void AddSums(const Acc* x, const Tap* t, int count, int64_t n, Acc* sum) {
  const Acc* a = x + t[0].offset;
  const auto wa = static_cast<Acc>(t[0].weight);
  if (count == 2) {
    const Acc* b = x + t[1].offset;
    const auto wb = static_cast<Acc>(t[1].weight);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Acc>(a[i] * wa + b[i] * wb);
    return;
  }
  if (count == 4) {
    const Acc *b = x + t[1].offset, *c = x + t[2].offset, *d = x + t[3].offset;
    const auto wb = static_cast<Acc>(t[1].weight), wc = static_cast<Acc>(t[2].weight),
               wd = static_cast<Acc>(t[3].weight);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i)
      sum[i] = static_cast<Acc>(a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Acc>(a[i] * wa);
  for (int k = 1; k < count; ++k) {
    const Acc* b = x + t[k].offset;
    const auto w = static_cast<Acc>(t[k].weight);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Acc>(sum[i] + b[i] * w);
  }
}

struct Plan {
  std::vector<Dimension> dims;  // up to the last resized one; at least one
  int64_t inner = 1;
  int axes = 0;      // resized
  int shift = 0;     // fraction bits of the products of weights
  int64_t gain = 1;  // the most that |weights| add up to
};

Plan MakePlan(const StepContext& context) {
  const Shape &src = context.Record(Field::kSrc).shape, &dst = context.Record(Field::kDst).shape;
  const auto size = static_cast<size_t>(NumElements(context.Record(Field::kList).shape));
  const auto read = ReadResizeList({context.In<int32_t>(Field::kList), size}, dst);
  Plan plan;
  if (NumElements(dst) == 0) {  // no map for nothing
    plan.dims.emplace_back();
    return plan;
  }
  int64_t stride = 1;
  for (size_t d = read.size(); d-- > 0; stride *= src[d]) {
    if (plan.dims.empty() && read[d].taps == 0) {
      plan.inner *= dst[d];
      continue;
    }
    Dimension dim{read[d].size, std::max(read[d].taps, 1), {}};
    for (int64_t i = 0; read[d].taps == 0 && i < dim.size; ++i) dim.taps.push_back({i * stride, 1});
    for (size_t i = 0; i < read[d].pairs.size(); i += 2) {
      dim.taps.push_back({read[d].pairs[i] * stride, read[d].pairs[i + 1]});
    }
    plan.axes += read[d].taps > 0 ? 1 : 0;
    plan.dims.push_back(std::move(dim));
  }
  if (plan.dims.empty()) plan.dims.push_back({1, 1, {{0, 1}}});
  std::reverse(plan.dims.begin(), plan.dims.end());
  plan.shift = numerics::kResizeBits * plan.axes;
  return plan;
}

// Takes out the factors of two that all weights of a dimension have: 1/4 and 3/4 are 1 and 3.
void ReduceWeights(Plan* plan) {
  for (Dimension& dim : plan->dims) {
    int zeros = 31;
    int64_t gain = 0, sum = 0;
    for (const Tap& tap : dim.taps)
      zeros = std::min(zeros, std::countr_zero(static_cast<uint32_t>(tap.weight)));
    for (size_t i = 0; i < dim.taps.size(); ++i) {
      dim.taps[i].weight /= 1 << zeros;
      sum = i % static_cast<size_t>(dim.per_output) == 0 ? 0 : sum;
      sum += std::abs(dim.taps[i].weight);
      gain = std::max(gain, sum);
    }
    plan->gain *= gain;
    plan->shift -= zeros;
  }
}

class ResizeStep : public Step {
 public:
  ResizeStep(const StepContext& context, const isa::Resize& c)
      : src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        plan_(MakePlan(context)) {
    const TensorRecord& x = context.Record(Field::kSrc);
    const bool is_u8 = x.dtype == DType::kU8;
    flip_ = is_u8 ? 0x80 : 0;
    params_ = {c.words,
               plan_.axes,
               is_u8 ? 128 : 0,
               x.zero_point,
               context.Record(Field::kDst).zero_point,
               c.clamp.lo,
               c.clamp.hi};
    const int64_t elements = NumElements(context.Record(Field::kDst).shape);
    positions_ = elements == 0 ? 0 : elements / plan_.inner;
    for (const Tap& tap : plan_.dims.back().taps) reach_ = std::max(reach_, tap.offset);
    reach_ += plan_.inner;
    by_rows_ = plan_.inner <= kBlock && plan_.dims.size() > 1 && reach_ <= kRow;
    if (positions_ == 0 || c.words.multiplier != 0) return;
    ReduceWeights(&plan_);
    narrow_ = 128 * plan_.gain + (int64_t{1} << plan_.shift) <= INT16_MAX;
  }

  void Run(const Team& team) noexcept override {
    const Range range = ThreadRange(positions_, plan_.inner < 16 ? 16 : 1, team);
    if (by_rows_) return narrow_ ? RunRows<int16_t>(range) : RunRows<int32_t>(range);
    narrow_ ? RunRange<int16_t>(range) : RunRange<int32_t>(range);
  }

  size_t memory_bytes() const override {
    size_t bytes = 0;
    for (const Dimension& dim : plan_.dims) bytes += dim.taps.size() * sizeof(Tap);
    return bytes;
  }

 private:
  // The taps of all dimensions but the last.
  TapList RowTaps(int64_t index) const noexcept {
    TapList row = {1, {{0, 1}}};
    for (size_t d = plan_.dims.size() - 1; d-- > 0; index /= plan_.dims[d].size) {
      row = Times(row, plan_.dims[d], index % plan_.dims[d].size);
    }
    return row;
  }

  // The other dimensions first, for a whole row of the source; the last one from those sums. The
  // same sums of products.
  template <typename Acc>
  void RunRows(const Range& range) const noexcept {
    alignas(64) Acc source[kRow], sum[kBlock];
    const Dimension& last = plan_.dims.back();
    const int64_t inner = plan_.inner, together = kBlock / inner;
    int64_t known = -1;
    for (int64_t at = range.begin; at < range.end;) {
      const int64_t row = at / last.size, first = at % last.size;
      if (row != known) {
        const TapList list = RowTaps(row);
        for (int t = 0; t < list.count; t += 4) {
          AddTaps(src_, list.taps + t, std::min(4, list.count - t), flip_, reach_, t == 0, source);
        }
        known = row;
      }
      const int64_t n = std::min({together, last.size - first, range.end - at});
      for (int64_t i = 0; i < n; ++i) {
        const Tap* taps = last.taps.data() + (first + i) * last.per_output;
        AddSums(source, taps, last.per_output, inner, sum + i * inner);
      }
      Store(sum, n * inner, dst_ + at * inner);
      at += n;
    }
  }

  template <typename Acc>
  void RunRange(const Range& range) const noexcept {
    TapList row, all;
    int64_t known = -1;
    const Dimension& last = plan_.dims.back();
    for (int64_t at = range.begin; at < range.end; ++at) {
      if (at / last.size != known) {
        known = at / last.size;
        row = RowTaps(known);
      }
      all = Times(row, last, at % last.size);
      Interpolate<Acc>(all, dst_ + at * plan_.inner);
    }
  }

  // Every tap of `list` with every one of the dimension's output index.
  static TapList Times(const TapList& list, const Dimension& dim, int64_t index) noexcept {
    TapList result;
    const Tap* own = dim.taps.data() + index * dim.per_output;
    for (int i = 0; i < list.count; ++i) {
      for (int k = 0; k < dim.per_output; ++k) {
        result.taps[result.count++] = {list.taps[i].offset + own[k].offset,
                                       list.taps[i].weight * own[k].weight};
      }
    }
    return result;
  }

  template <typename Acc>
  void Interpolate(const TapList& list, uint8_t* y) const noexcept {
    alignas(64) Acc sum[kBlock];
    for (int64_t at = 0; at < plan_.inner; at += kBlock) {
      const int64_t n = std::min(kBlock, plan_.inner - at);
      for (int t = 0; t < list.count; t += 4) {
        AddTaps(src_ + at, list.taps + t, std::min(4, list.count - t), flip_, n, t == 0, sum);
      }
      Store(sum, n, y + at);
    }
  }

  // numerics::FinishResize, by the weights as they are kept.
  template <typename Acc>
  void Store(const Acc* sum, int64_t n, uint8_t* y) const noexcept {
    if (params_.words.multiplier != 0) {
      for (int64_t i = 0; i < n; ++i) {
        y[i] = static_cast<uint8_t>(numerics::FinishResize(sum[i], params_));
      }
      return;
    }
    const int shift = plan_.shift;
    const auto half = static_cast<Acc>(shift > 0 ? 1 << (shift - 1) : 0);
    const auto lift = static_cast<Acc>(params_.lift);
    const auto lo = static_cast<Acc>(params_.lo), hi = static_cast<Acc>(params_.hi);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      auto v = static_cast<Acc>((static_cast<Acc>(sum[i] + half) >> shift) + lift);
      v = v < lo ? lo : v;
      v = v > hi ? hi : v;
      y[i] = static_cast<uint8_t>(v);
    }
  }

  const uint8_t* src_;
  uint8_t* dst_;
  uint8_t flip_ = 0;
  Plan plan_;
  numerics::ResizeParams params_;
  bool narrow_ = false;
  bool by_rows_ = false;
  int64_t reach_ = 0;  // elements from the first that a row of the source has
  int64_t positions_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Resize& c) {
  return std::make_unique<ResizeStep>(context, c);
}

}  // namespace rshift
