// Depthwise convolution of the AVX512-VNNI unit: 64 channels at a time, dot products of four kernel
// rows.
//
//   kernel rows 0..3 of one input column      interleaved: quarter q holds, in 128-bit lane l, the
//     r0: a0 a1 a2 ...  (64 channels)          four rows of channels 16 l + 4 q .. + 3
//     r1: b0 b1 b2 ...                ->         q0: a0 b0 c0 d0  a1 b1 c1 d1  ...
//     r2: c0 c1 c2 ...
//     r3: d0 d1 d2 ...  (a zero weight where the kernel has fewer rows)
//
// A column is interleaved once, into the thread's scratch for a segment of output pixels or into
// registers (depthwise_direct.h), and serves every kernel column that reads it. Weights and
// requantization constants are brought into the same order, so that packing within lanes puts the
// channels right. Kernels of more than four rows take several groups of four; where a group has
// room for it, as with 3 rows and stride 1, the next output row is computed from the same columns.
// Where at most 32 channels are left, lanes 2 and 3 take the same channels of another pixel, half a
// segment on. Weight zero points: the sum of x comes from a second dot product, with ones.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_H_

#include "runtime/kernels/avx512vnni/depthwise_columns.h"
#include "runtime/kernels/avx512vnni/depthwise_direct.h"

namespace rshift {
namespace {

// One quarter of P pixels. kTaps: kernel_w where groups and dilation_w are 1 and it is known, else
// 0. kZeroW: weight zero points are taken off, acc - zero_w * (sum of x).
template <int P, int kTaps, bool kZeroW>
[[gnu::always_inline]] inline void DotQuarter(const DepthwiseArgs& args, const DwPlan& plan,
                                              const RequantArgs& q, const __m512i* column,
                                              int quarter, __m512i (&acc)[P]) {
  const Window& w = args.window;
  const int64_t pixel = w.stride_w * plan.groups * kDwQuarters;
  const int64_t step = w.dilation_w * plan.groups * kDwQuarters;
  const __m512i* weights = plan.weights + quarter;
  const int32_t extra = static_cast<int32_t>(args.src_signed ? 128 * w.kernel_h * w.kernel_w : 0);
  __m512i sum[P];
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    acc[p] = _mm512_load_si512(q.bias + 16 * quarter);
    sum[p] = _mm512_set1_epi32(-extra);
  }
  column += quarter;
  const auto add = [&](const __m512i* x, __m512i weight, __m512i ones) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      const __m512i a = _mm512_load_si512(x + p * pixel);
      acc[p] = _mm512_dpbusd_epi32(acc[p], a, weight);
      if constexpr (kZeroW) sum[p] = _mm512_dpbusd_epi32(sum[p], a, ones);
    }
  };
  if constexpr (kTaps > 0) {
#pragma GCC unroll 4
    for (int kx = 0; kx < kTaps; ++kx) add(column + 4 * kx, weights[4 * kx], plan.ones[0]);
  } else {
    for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
      for (int64_t g = 0; g < plan.groups; ++g, weights += 4) {
        add(column + kx * step + 4 * g, *weights, plan.ones[g]);
      }
    }
  }
  if constexpr (kZeroW) {
    const __m512i zero_w = _mm512_load_si512(q.zero_w + 16 * quarter);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      acc[p] = _mm512_sub_epi32(acc[p], _mm512_mullo_epi32(zero_w, sum[p]));
    }
  }
}

// P pixels from `column` on -> bytes.
template <typename S, int P, int kTaps>
[[gnu::always_inline]] inline void FinishPixels(const DepthwiseArgs& args, const DwPlan& plan,
                                                const RequantArgs& q, const S (&requantizer)[4],
                                                const SaturatingPack<S>& pack,
                                                const __m512i* column, const DwSegment& segment,
                                                int64_t pixel) {
  __m512i v[4][P];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    DotQuarter<P, kTaps, false>(args, plan, q, column, i, v[i]);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) v[i][p] = requantizer[i].Scale(v[i][p]);
  }
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    segment.Store(pack.PackLanes(v[0][p], v[1][p], v[2][p], v[3][p]), pixel + p, args.dst_pitch);
  }
}

template <typename S, int kTaps>
void FinishSegment(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                   const DwSegment& segment) {
  const S requantizer[4] = {S::Load(q, 0), S::Load(q, 16), S::Load(q, 32), S::Load(q, 48)};
  const SaturatingPack<S> pack = SaturatingPack<S>::Load(q);
  const int64_t step = args.window.stride_w * plan.groups * kDwQuarters;
  const __m512i* column = plan.columns;
  int64_t i = 0;
  for (; i + 4 <= segment.pixels; i += 4, column += 4 * step) {
    FinishPixels<S, 4, kTaps>(args, plan, q, requantizer, pack, column, segment, i);
  }
  for (; i < segment.pixels; ++i, column += step) {
    FinishPixels<S, 1, kTaps>(args, plan, q, requantizer, pack, column, segment, i);
  }
}

// --- the requantizers that are not worth a copy of the convolution each: through memory

template <typename S>
inline constexpr bool kHasOwnSegment = false;
template <>
inline constexpr bool kHasOwnSegment<ByRatio<Avx512>> = true;
template <bool kUnsigned>
inline constexpr bool kHasOwnSegment<ByRatioUnclamped<Avx512, kUnsigned>> = true;
template <>
inline constexpr bool kHasOwnSegment<ByTwoRatios<Avx512>> = true;
template <>
inline constexpr bool kHasOwnSegment<HalfUpPrecomputed<Avx512>> = true;
template <>
inline constexpr bool kHasOwnSegment<TwoStepPrecomputed<Avx512>> = true;
template <>
inline constexpr bool kHasOwnSegment<FloatEven<Avx512>> = true;
template <>
inline constexpr bool kHasOwnSegment<FloatZeroEven<Avx512>> = true;

constexpr int kDwStored = 8;  // pixels

// Accumulators in the order of the quarters -> bytes of pixels first .. first + count - 1.
template <typename S>
[[gnu::noinline]] void FinishQuarters(const RequantArgs& q, const int32_t (*acc)[64],
                                      const DwSegment& segment, int64_t first, int64_t count,
                                      int64_t dst_pitch) {
  const S requantizer[4] = {S::Load(q, 0), S::Load(q, 16), S::Load(q, 32), S::Load(q, 48)};
  const SaturatingPack<S> pack = SaturatingPack<S>::Load(q);
  for (int64_t p = 0; p < count; ++p) {
    __m512i v[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) v[i] = requantizer[i].Scale(_mm512_load_si512(acc[p] + 16 * i));
    segment.Store(pack.PackLanes(v[0], v[1], v[2], v[3]), first + p, dst_pitch);
  }
}

template <bool kZeroW, typename Finish>
[[gnu::always_inline]] inline void StoreSegment(const DepthwiseArgs& args, const DwPlan& plan,
                                                const RequantArgs& q, const DwSegment& segment,
                                                const Finish& finish) {
  const __m512i* column = plan.columns;
  const int64_t step = args.window.stride_w * plan.groups * kDwQuarters;
  alignas(64) int32_t acc[kDwStored][64];
  for (int64_t i = 0; i < segment.pixels; i += kDwStored) {
    const int64_t left = segment.pixels - i, count = left < kDwStored ? left : kDwStored;
    for (int64_t p = 0; p < count; ++p, column += step) {
      for (int j = 0; j < 4; ++j) {
        __m512i one[1];
        DotQuarter<1, 0, kZeroW>(args, plan, q, column, j, one);
        _mm512_store_si512(acc[p] + 16 * j, one[0]);
      }
    }
    finish(acc, i, count);
  }
}

// By pointer, so that there is one loop for all requantizers.
using FinishQuartersFn = void (*)(const RequantArgs&, const int32_t (*)[64], const DwSegment&,
                                  int64_t, int64_t, int64_t);
template <bool kZeroW>
[[gnu::noinline]] void FinishSegmentThroughMemory(const DepthwiseArgs& args, const DwPlan& plan,
                                                  const RequantArgs& q, const DwSegment& segment,
                                                  FinishQuartersFn finish) {
  StoreSegment<kZeroW>(args, plan, q, segment, [&](const int32_t(*acc)[64], int64_t i, int64_t n) {
    finish(q, acc, segment, i, n, args.dst_pitch);
  });
}

// Post-operations want the channels in order.
template <bool kZeroW>
void FinishSegmentByFunction(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                             const DwSegment& segment) {
  StoreSegment<kZeroW>(args, plan, q, segment, [&](const int32_t(*acc)[64], int64_t i, int64_t n) {
    for (int64_t p = 0; p < n; ++p) {
      alignas(64) int32_t row[64];
      OrderByQuarters(acc[p], 0, false, row);  // its own inverse
      args.requant.finish(args.requant, segment.first, row, segment.count,
                          segment.dst + (i + p) * args.dst_pitch);
    }
  });
}

template <bool kZeroW>
void RunSegment(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                const DwSegment& segment) {
  if (q.post_ops) return FinishSegmentByFunction<kZeroW>(args, plan, q, segment);
  const bool three = plan.groups == 1 && args.window.kernel_w == 3 && args.window.dilation_w == 1;
  WithRequantizer<Avx512>(q, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    if constexpr (kHasOwnSegment<S> && !kZeroW) {
      if (three) return FinishSegment<S, 3>(args, plan, q, segment);
      FinishSegment<S, 0>(args, plan, q, segment);
    } else {
      FinishSegmentThroughMemory<kZeroW>(args, plan, q, segment, FinishQuarters<S>);
    }
  });
}

// One output row of a segment whose columns are prepared.
inline void RunRow(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q, int64_t n,
                   const DwSegment& segment) {
  if (q.zero_w == nullptr) {
    RunSegment<false>(args, plan, q, segment);
  } else {
    RunSegment<true>(args, plan, q, segment);
  }
  if (args.epilogue.run != nullptr)
    args.epilogue.run(args.epilogue.state, segment.dst, n, segment.count);
}

template <typename S, bool kHalves>
void RunDirectlyBy(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                   const PixelCursor& at, bool both, const DwSegment& segment) {
  if (args.window.stride_w == 2) return DirectRows<S, 2, 1, kHalves>(args, plan, q, at, segment);
  if (!both) return DirectRows<S, 1, 1, kHalves>(args, plan, q, at, segment);
  DirectRows<S, 1, 2, kHalves>(args, plan, q, at, segment);
}

// RunPixels where RunsDirectly.
inline void RunPixelsDirectly(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                              const PixelCursor& at, int64_t n, bool both,
                              const DwSegment& segment) {
  const auto run = [&](auto tag) {
    using S = typename decltype(tag)::Type;
    if (segment.apart > 0) return RunDirectlyBy<S, true>(args, plan, q, at, both, segment);
    RunDirectlyBy<S, false>(args, plan, q, at, both, segment);
  };
  if (q.negative != nullptr) {
    run(RequantizerTag<ByTwoRatios<Avx512>>{});
  } else {
    WithUnclamped<Avx512, ByRatio<Avx512>>(q, run);
  }
  if (args.epilogue.run == nullptr) return;
  for (int64_t row = 0; row < (both ? 2 : 1); ++row) {
    args.epilogue.run(args.epilogue.state, segment.dst + row * args.ow * args.dst_pitch, n,
                      segment.count);
  }
}

// Output pixels [m, m + n) of one row, m being `at`, channels of the segment; with `both`, those
// below them, too.
inline void RunPixels(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                      int64_t m, const PixelCursor& at, int64_t n, bool halves, bool both,
                      DwSegment* segment) {
  const Window& w = args.window;
  segment->pixels = halves ? (n + 1) / 2 : n;
  segment->apart = halves ? segment->pixels : 0;
  segment->apart_pixels = halves ? n - segment->pixels : 0;
  segment->dst = args.dst + m * args.dst_pitch + segment->first;
  if (RunsDirectly(args, plan)) return RunPixelsDirectly(args, plan, q, at, n, both, *segment);
  PrepareColumns(args, plan, segment->first, at, at.x * w.stride_w - w.pad_left,
                 plan.Columns(segment->pixels, w.stride_w), segment->apart * w.stride_w);
  RunRow(args, plan, q, n, *segment);
  if (!both) return;
  segment->dst += args.ow * args.dst_pitch;
  RunRow(args, plan.Second(w), q, n, *segment);
}

inline void DriveDepthwiseDot(const DepthwiseArgs& args, const DepthwiseRange& range,
                              void* scratch) noexcept {
  const DwPlan plan = PlanDepthwise(args, scratch, nullptr);
  for (int64_t first = range.c_begin; first < range.c_end; first += kDwBlock) {
    DwSegment segment{.first = first};
    segment.count = range.c_end - first < kDwBlock ? range.c_end - first : kDwBlock;
    const bool halves = segment.count <= kDwBlock / 2 && !args.requant.post_ops;
    int64_t most = halves ? 2 * plan.segment : plan.segment;
    if (RunsDirectly(args, plan)) most = args.ow;
    PrepareWeights(args, plan, first, halves);
    RequantArgs negative;
    const RequantArgs q = OrderRequant(args, plan, first, halves, &negative);
    bool both = false;
    PixelCursor at = CursorAt(range.m_begin, args.oh, args.ow);
    for (int64_t m = range.m_begin; m < range.m_end;) {
      if (at.x == 0) {
        both = plan.output_rows == 2 && at.y + 1 < args.oh && m + 2 * args.ow <= range.m_end;
      }
      int64_t n = args.ow - at.x;
      if (n > most) n = most;
      if (n > range.m_end - m) n = range.m_end - m;
      RunPixels(args, plan, q, m, at, n, halves, both, &segment);
      m += n;
      at.x += n;
      if (at.x < args.ow) continue;
      at.x = 0;
      at.y += both ? 2 : 1;
      if (both) m += args.ow;
      if (at.y == args.oh) at.y = 0, ++at.batch;
    }
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_H_
