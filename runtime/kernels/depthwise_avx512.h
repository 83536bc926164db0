// Depthwise convolution of the AVX512-VNNI unit: 64 channels at a time, dot products of four kernel
// rows. Included by that unit only (see conv_driver.h).
//
//   kernel rows 0..3 of one input column      interleaved: quarter q holds, in 128-bit lane l, the
//     r0: a0 a1 a2 ...  (64 channels)          four rows of channels 16 l + 4 q .. + 3
//     r1: b0 b1 b2 ...                ->         q0: a0 b0 c0 d0  a1 b1 c1 d1  ...
//     r2: c0 c1 c2 ...
//     r3: d0 d1 d2 ...  (a zero weight where the kernel has fewer rows)
//
// A column is interleaved once into the thread's scratch, for a segment of output pixels, and
// serves every kernel column that reads it. Weights and requantization constants are brought into
// the same order, so that packing within lanes puts the channels right. Kernels of more than four
// rows take several groups of four. Weight zero points: the sum of x comes from a second dot
// product, with ones.
#ifndef RSHIFT_RUNTIME_KERNELS_DEPTHWISE_AVX512_H_
#define RSHIFT_RUNTIME_KERNELS_DEPTHWISE_AVX512_H_

#include "runtime/kernels/conv_avx512.h"

namespace rshift {
namespace {

constexpr int64_t kDwBlock = 64, kDwQuarters = 4;
constexpr int64_t kDwColumnBytes = 16 * 1024;  // of a segment: half the first-level cache
constexpr int64_t kDwArrays = 6;  // at most: bias, zero_w and four of scales               // of a
                                  // block, 64 words each, in quarter order

// Sizes that follow from the shape, and the parts of the thread's scratch.
struct DwPlan {
  int64_t groups = 1;          // of four kernel rows
  int64_t span = 1;            // input columns under one output pixel
  int64_t segment = 1;         // output pixels whose columns are kept at once
  __m512i* weights = nullptr;  // [kernel_w][groups][4]
  __m512i* ones = nullptr;     // [groups]: 1 for each row that exists
  int32_t* arrays = nullptr;   // [kDwArrays][64]
  __m512i* columns = nullptr;  // [(segment - 1) * stride_w + span][groups][4]

  int64_t Columns(int64_t pixels, int64_t stride) const { return (pixels - 1) * stride + span; }
};

inline DwPlan PlanDepthwise(const DepthwiseArgs& args, void* scratch, size_t* bytes) {
  const WindowArgs& w = args.window;
  DwPlan plan;
  plan.groups = (w.kernel_h + 3) / 4;
  plan.span = (w.kernel_w - 1) * w.dilation_w + 1;
  const int64_t columns = kDwColumnBytes / (256 * plan.groups);
  plan.segment = columns > plan.span ? (columns - plan.span) / w.stride_w + 1 : 1;
  if (plan.segment > args.ow) plan.segment = args.ow;
  plan.weights = static_cast<__m512i*>(scratch);
  plan.ones = plan.weights + w.kernel_w * plan.groups * kDwQuarters;
  __m512i* arrays = plan.ones + plan.groups;
  plan.arrays = reinterpret_cast<int32_t*>(arrays);
  plan.columns = arrays + kDwArrays * 4;
  const __m512i* end =
      plan.columns + plan.Columns(plan.segment, w.stride_w) * plan.groups * kDwQuarters;
  if (bytes != nullptr) {
    *bytes = static_cast<size_t>(reinterpret_cast<uintptr_t>(end) -
                                 reinterpret_cast<uintptr_t>(scratch));
  }
  return plan;
}

inline size_t DepthwiseDotScratchBytes(const DepthwiseArgs& args) noexcept {
  size_t bytes = 0;
  PlanDepthwise(args, nullptr, &bytes);
  return bytes;
}

[[gnu::always_inline]] inline void Interleave(__m512i r0, __m512i r1, __m512i r2, __m512i r3,
                                              __m512i* out) {
  const __m512i lo01 = _mm512_unpacklo_epi8(r0, r1), hi01 = _mm512_unpackhi_epi8(r0, r1);
  const __m512i lo23 = _mm512_unpacklo_epi8(r2, r3), hi23 = _mm512_unpackhi_epi8(r2, r3);
  _mm512_store_si512(out, _mm512_unpacklo_epi16(lo01, lo23));
  _mm512_store_si512(out + 1, _mm512_unpackhi_epi16(lo01, lo23));
  _mm512_store_si512(out + 2, _mm512_unpacklo_epi16(hi01, hi23));
  _mm512_store_si512(out + 3, _mm512_unpackhi_epi16(hi01, hi23));
}

// 32 bytes from each of two places; the first 32 bytes twice.
inline __m512i LoadHalves(const uint8_t* a, const uint8_t* b) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
inline __m512i LoadTwice(const void* a) {
  return _mm512_broadcast_i64x4(_mm256_loadu_si256(static_cast<const __m256i*>(a)));
}

inline void PrepareWeights(const DepthwiseArgs& args, const DwPlan& plan, int64_t first,
                           bool halves) {
  const WindowArgs& w = args.window;
  const auto row = [&](int64_t ky, int64_t kx) {
    if (ky >= w.kernel_h) return _mm512_setzero_si512();
    const int8_t* weights = args.weights + (ky * w.kernel_w + kx) * args.c64 + first;
    return halves ? LoadTwice(weights) : _mm512_loadu_si512(weights);
  };
  __m512i* out = plan.weights;
  for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
    for (int64_t ky = 0; ky < 4 * plan.groups; ky += 4, out += kDwQuarters) {
      Interleave(row(ky, kx), row(ky + 1, kx), row(ky + 2, kx), row(ky + 3, kx), out);
    }
  }
  for (int64_t g = 0; g < plan.groups; ++g) {
    const int64_t rows = w.kernel_h - 4 * g;
    const uint32_t ones = rows >= 4 ? 0x01010101u : 0x01010101u >> (8 * (4 - rows));
    _mm512_store_si512(plan.ones + g, _mm512_set1_epi32(static_cast<int32_t>(ones)));
  }
}

// Words of a per-channel array in the order of the quarters: 64, or the first 32 twice.
inline void OrderByQuarters(const void* from, int64_t entry, bool halves, int32_t* to) {
  const int32_t* source = static_cast<const int32_t*>(from) + entry;
  for (int64_t q = 0; q < 4; ++q) {
    for (int64_t lane = 0; lane < 4; ++lane) {
      std::memcpy(to + 16 * q + 4 * lane, source + 16 * (halves ? lane % 2 : lane) + 4 * q, 16);
    }
  }
}

// The requantization of channels [first, first + 64) as entries 0..63 in the order of the quarters;
// `bias` is the one that goes with unsigned x.
inline RequantArgs OrderRequant(const DepthwiseArgs& args, const DwPlan& plan, int64_t first,
                                bool halves) {
  RequantArgs q = args.requant;
  int32_t* next = plan.arrays;
  const auto order = [&]<typename T>(const T** array) {
    if (*array == nullptr) return;
    OrderByQuarters(*array, first, halves, next);
    *array = reinterpret_cast<const T*>(next);
    next += 64;
  };
  q.bias = args.src_signed ? q.bias_unsigned : q.bias;
  order(&q.bias);
  order(&q.multiplier);
  order(&q.rshift);
  order(&q.high_half);
  order(&q.high_shift);
  order(&q.scale);
  order(&q.bias_f);
  order(&q.zero_w);
  return q;
}

// Where a group's four kernel rows read: pixel 0 of the line, and bytes from pixel to pixel (0
// where every pixel is the one of zero points).
struct DwLines {
  const uint8_t* at[4];
  int64_t step[4];
};

inline void InterleaveColumns(const DwLines& lines, int64_t x, int64_t count, __m512i flip,
                              int64_t out_step, __m512i* out) {
  const auto load = [&](int r, int64_t i) {
    return _mm512_xor_si512(_mm512_loadu_si512(lines.at[r] + i * lines.step[r]), flip);
  };
  for (int64_t i = x; i < x + count; ++i, out += out_step) {
    Interleave(load(0, i), load(1, i), load(2, i), load(3, i), out);
  }
}

// The same for halves: columns x and x + apart together; `width` columns exist.
inline void InterleaveHalves(const DwLines& lines, const DwLines& outside, int64_t x, int64_t apart,
                             int64_t width, int64_t count, __m512i flip, int64_t out_step,
                             __m512i* out) {
  for (int64_t i = x; i < x + count; ++i, out += out_step) {
    const DwLines& a = i >= 0 && i < width ? lines : outside;
    const DwLines& b = i + apart >= 0 && i + apart < width ? lines : outside;
    const auto load = [&](int r) {
      return _mm512_xor_si512(
          LoadHalves(a.at[r] + i * a.step[r], b.at[r] + (i + apart) * b.step[r]), flip);
    };
    Interleave(load(0), load(1), load(2), load(3), out);
  }
}

// One output row's input columns [x, x + count) of channels [first, first + 64), interleaved; with
// apart > 0 channels [first, first + 32) of those columns and of the ones `apart` further on.
inline void PrepareColumns(const DepthwiseArgs& args, const DwPlan& plan, int64_t first,
                           const PixelCursor& at, int64_t x, int64_t count, int64_t apart) {
  const WindowArgs& w = args.window;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(args.src_signed ? 0x80 : 0));
  const uint8_t* zeros = args.zero_row + first;
  const DwLines outside = {{zeros, zeros, zeros, zeros}, {0, 0, 0, 0}};
  const int64_t step = plan.groups * kDwQuarters;
  const int64_t before = x < 0 ? (-x < count ? -x : count) : 0;
  const int64_t end = x + count < args.iw ? count : args.iw - x;
  const int64_t inside_end = end > before ? end : before;
  for (int64_t g = 0; g < plan.groups; ++g) {
    DwLines lines = outside;
    for (int64_t r = 0; r < 4; ++r) {
      const int64_t ky = 4 * g + r, iy = at.y * w.stride_h - w.pad_top + ky * w.dilation_h;
      if (ky >= w.kernel_h || iy < 0 || iy >= args.ih) continue;
      lines.at[r] = args.src + (at.batch * args.ih + iy) * args.iw * args.src_pitch + first;
      lines.step[r] = args.src_pitch;
    }
    __m512i* out = plan.columns + g * kDwQuarters;
    if (apart > 0) {
      InterleaveHalves(lines, outside, x, apart, args.iw, count, flip, step, out);
      continue;
    }
    InterleaveColumns(outside, 0, before, flip, step, out);
    InterleaveColumns(lines, x + before, inside_end - before, flip, step, out + before * step);
    InterleaveColumns(outside, 0, count - inside_end, flip, step, out + inside_end * step);
  }
}

// One quarter of P pixels. kTaps: kernel_w where groups and dilation_w are 1 and it is known, else
// 0. kZeroW: weight zero points are taken off, acc - zero_w * (sum of x).
template <int P, int kTaps, bool kZeroW>
[[gnu::always_inline]] inline void DotQuarter(const DepthwiseArgs& args, const DwPlan& plan,
                                              const RequantArgs& q, const __m512i* column,
                                              int quarter, __m512i (&acc)[P]) {
  const WindowArgs& w = args.window;
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

// Where the pixels of one segment go.
struct DwSegment {
  uint8_t* dst = nullptr;  // of the first pixel and channel
  int64_t pixels = 0;
  int64_t first = 0, count = 64;  // channels
  // > 0: the upper 32 bytes are channels of the pixel that many further on; one more than `pixels`
  // may be computed there than is stored.
  int64_t apart = 0, apart_pixels = 0;

  void Store(__m512i bytes, int64_t pixel, int64_t pitch) const {
    uint8_t* to = dst + pixel * pitch;
    StoreBytes(bytes, to, count);
    if (pixel >= apart_pixels) return;
    const __m256i high = _mm512_extracti64x4_epi64(bytes, 1);
    StoreBytes(_mm512_castsi256_si512(high), to + apart * pitch, count);
  }
};

// P pixels from `column` on -> bytes.
template <typename S, int P, int kTaps, bool kZeroW>
[[gnu::always_inline]] inline void FinishPixels(const DepthwiseArgs& args, const DwPlan& plan,
                                                const RequantArgs& q, const S (&form)[4],
                                                const Narrow<S>& narrow, const __m512i* column,
                                                const DwSegment& segment, int64_t pixel) {
  __m512i v[4][P];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    DotQuarter<P, kTaps, kZeroW>(args, plan, q, column, i, v[i]);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) v[i][p] = form[i].Scale(v[i][p]);
  }
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    segment.Store(narrow.PackLanes(v[0][p], v[1][p], v[2][p], v[3][p]), pixel + p, args.dst_pitch);
  }
}

template <typename S, int kTaps, bool kZeroW>
void FinishSegment(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                   const DwSegment& segment) {
  const S form[4] = {S::Load(q, 0), S::Load(q, 16), S::Load(q, 32), S::Load(q, 48)};
  const Narrow<S> narrow = Narrow<S>::Load(q);
  const int64_t step = args.window.stride_w * plan.groups * kDwQuarters;
  const __m512i* column = plan.columns;
  int64_t i = 0;
  for (; i + 4 <= segment.pixels; i += 4, column += 4 * step) {
    FinishPixels<S, 4, kTaps, kZeroW>(args, plan, q, form, narrow, column, segment, i);
  }
  for (; i < segment.pixels; ++i, column += step) {
    FinishPixels<S, 1, kTaps, kZeroW>(args, plan, q, form, narrow, column, segment, i);
  }
}

// Post-operations want the channels in order.
template <bool kZeroW>
void FinishSegmentByFunction(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                             const DwSegment& segment) {
  const __m512i* column = plan.columns;
  const int64_t step = args.window.stride_w * plan.groups * kDwQuarters;
  uint8_t* dst = segment.dst;
  for (int64_t i = 0; i < segment.pixels; ++i, column += step, dst += args.dst_pitch) {
    alignas(64) int32_t quarters[64], row[64];
    for (int j = 0; j < 4; ++j) {
      __m512i acc[1];
      DotQuarter<1, 0, kZeroW>(args, plan, q, column, j, acc);
      _mm512_store_si512(quarters + 16 * j, acc[0]);
    }
    OrderByQuarters(quarters, 0, false, row);  // its own inverse
    args.requant.finish(args.requant, segment.first, row, segment.count, dst);
  }
}

template <bool kZeroW>
void RunSegment(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                const DwSegment& segment) {
  if (q.post_ops) return FinishSegmentByFunction<kZeroW>(args, plan, q, segment);
  const bool three = plan.groups == 1 && args.window.kernel_w == 3 && args.window.dilation_w == 1;
  WithRequant(q, [&](auto form) {
    using S = typename decltype(form)::Type;
    if (three && !kZeroW) return FinishSegment<S, 3, false>(args, plan, q, segment);
    FinishSegment<S, 0, kZeroW>(args, plan, q, segment);
  });
}

// Output pixels [m, m + n) of one row, channels of the segment.
inline void RunPixels(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                      int64_t m, int64_t n, bool halves, DwSegment* segment) {
  const WindowArgs& w = args.window;
  const PixelCursor at = CursorAt(m, args.oh, args.ow);
  segment->pixels = halves ? (n + 1) / 2 : n;
  segment->apart = halves ? segment->pixels : 0;
  segment->apart_pixels = halves ? n - segment->pixels : 0;
  segment->dst = args.dst + m * args.dst_pitch + segment->first;
  PrepareColumns(args, plan, segment->first, at, at.x * w.stride_w - w.pad_left,
                 plan.Columns(segment->pixels, w.stride_w), segment->apart * w.stride_w);
  if (q.zero_w == nullptr) {
    RunSegment<false>(args, plan, q, *segment);
  } else {
    RunSegment<true>(args, plan, q, *segment);
  }
  for (int64_t i = 0; args.after.run != nullptr && i < n; ++i) {
    args.after.run(args.after.state, segment->dst + i * args.dst_pitch, segment->count);
  }
}

inline void DriveDepthwiseDot(const DepthwiseArgs& args, const DepthwiseRange& range,
                              void* scratch) noexcept {
  const DwPlan plan = PlanDepthwise(args, scratch, nullptr);
  for (int64_t first = range.c_begin; first < range.c_end; first += kDwBlock) {
    DwSegment segment{.first = first};
    segment.count = range.c_end - first < kDwBlock ? range.c_end - first : kDwBlock;
    const bool halves = segment.count <= kDwBlock / 2 && !args.requant.post_ops;
    const int64_t most = halves ? 2 * plan.segment : plan.segment;
    PrepareWeights(args, plan, first, halves);
    const RequantArgs q = OrderRequant(args, plan, first, halves);
    for (int64_t m = range.m_begin, n = 0; m < range.m_end; m += n) {
      n = args.ow - m % args.ow;
      if (n > most) n = most;
      if (n > range.m_end - m) n = range.m_end - m;
      RunPixels(args, plan, q, m, n, halves, &segment);
    }
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DEPTHWISE_AVX512_H_
