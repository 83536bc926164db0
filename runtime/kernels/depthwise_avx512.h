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
constexpr int64_t kDwArrays = 6;               // of a block, 64 words each, in quarter order

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

inline void Interleave(__m512i r0, __m512i r1, __m512i r2, __m512i r3, __m512i* out) {
  const __m512i lo01 = _mm512_unpacklo_epi8(r0, r1), hi01 = _mm512_unpackhi_epi8(r0, r1);
  const __m512i lo23 = _mm512_unpacklo_epi8(r2, r3), hi23 = _mm512_unpackhi_epi8(r2, r3);
  _mm512_store_si512(out, _mm512_unpacklo_epi16(lo01, lo23));
  _mm512_store_si512(out + 1, _mm512_unpackhi_epi16(lo01, lo23));
  _mm512_store_si512(out + 2, _mm512_unpacklo_epi16(hi01, hi23));
  _mm512_store_si512(out + 3, _mm512_unpackhi_epi16(hi01, hi23));
}

inline void PrepareWeights(const DepthwiseArgs& args, const DwPlan& plan, int64_t first) {
  const WindowArgs& w = args.window;
  const auto row = [&](int64_t ky, int64_t kx) {
    if (ky >= w.kernel_h) return _mm512_setzero_si512();
    return _mm512_loadu_si512(args.weights + (ky * w.kernel_w + kx) * args.c64 + first);
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

// 64 words of a per-channel array in the order of the quarters.
inline void OrderByQuarters(const void* from, int64_t entry, int32_t* to) {
  const int32_t* source = static_cast<const int32_t*>(from) + entry;
  for (int64_t q = 0; q < 4; ++q) {
    for (int64_t lane = 0; lane < 4; ++lane) {
      std::memcpy(to + 16 * q + 4 * lane, source + 16 * lane + 4 * q, 16);
    }
  }
}

// The requantization of channels [first, first + 64) as entries 0..63 in the order of the quarters;
// `bias` is the one that goes with unsigned x.
inline RequantArgs OrderRequant(const DepthwiseArgs& args, const DwPlan& plan, int64_t first) {
  RequantArgs q = args.requant;
  int32_t* next = plan.arrays;
  const auto order = [&]<typename T>(const T** array) {
    if (*array == nullptr) return;
    OrderByQuarters(*array, first, next);
    *array = reinterpret_cast<const T*>(next);
    next += 64;
  };
  q.bias = args.src_signed ? q.bias_unsigned : q.bias;
  order(&q.bias);
  order(&q.multiplier);
  order(&q.rshift);
  order(&q.scale);
  order(&q.bias_f);
  order(&q.zero_w);
  return q;
}

// One output row's input columns [x, x + count) of channels [first, first + 64), interleaved.
inline void PrepareColumns(const DepthwiseArgs& args, const DwPlan& plan, int64_t first,
                           int64_t batch, int64_t y, int64_t x, int64_t count) {
  const WindowArgs& w = args.window;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(args.src_signed ? 0x80 : 0));
  const uint8_t* outside = args.zero_row + first;
  for (int64_t g = 0; g < plan.groups; ++g) {
    const uint8_t* line[4];
    for (int64_t r = 0; r < 4; ++r) {
      const int64_t ky = 4 * g + r, iy = y * w.stride_h - w.pad_top + ky * w.dilation_h;
      const bool inside = ky < w.kernel_h && iy >= 0 && iy < args.ih;
      line[r] =
          inside ? args.src + (batch * args.ih + iy) * args.iw * args.src_pitch + first : nullptr;
    }
    __m512i* out = plan.columns + g * kDwQuarters;
    for (int64_t i = 0; i < count; ++i, out += plan.groups * kDwQuarters) {
      const bool column_inside = x + i >= 0 && x + i < args.iw;
      const auto load = [&](int r) {
        const uint8_t* at =
            column_inside && line[r] != nullptr ? line[r] + (x + i) * args.src_pitch : outside;
        return _mm512_xor_si512(_mm512_loadu_si512(at), flip);
      };
      Interleave(load(0), load(1), load(2), load(3), out);
    }
  }
}

// The accumulators of one pixel. kTaps: kernel_w when groups is 1 and it is known, else 0.
template <int kTaps>
inline void DotPixel(const DwPlan& plan, const WindowArgs& w, const __m512i* column,
                     const int32_t* bias, __m512i (&acc)[4]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) acc[i] = _mm512_load_si512(bias + 16 * i);
  const __m512i* weights = plan.weights;
  if constexpr (kTaps > 0) {
#pragma GCC unroll 4
    for (int kx = 0; kx < kTaps; ++kx, weights += 4, column += 4) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) acc[i] = _mm512_dpbusd_epi32(acc[i], column[i], weights[i]);
    }
  } else {
    const int64_t step = w.dilation_w * plan.groups * kDwQuarters;
    for (int64_t kx = 0; kx < w.kernel_w; ++kx, column += step) {
      for (int64_t j = 0; j < plan.groups * kDwQuarters; j += 4, weights += 4) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) acc[i] = _mm512_dpbusd_epi32(acc[i], column[j + i], weights[i]);
      }
    }
  }
}

// acc -= zero_w * sum of x.
inline void TakeOffZeroW(const DepthwiseArgs& args, const DwPlan& plan, const int32_t* zero_w,
                         const __m512i* column, __m512i (&acc)[4]) {
  const WindowArgs& w = args.window;
  const int64_t extra = args.src_signed ? 128 * w.kernel_h * w.kernel_w : 0;
  const int64_t step = w.dilation_w * plan.groups * kDwQuarters;
  for (int64_t i = 0; i < 4; ++i) {
    __m512i sum = _mm512_set1_epi32(static_cast<int32_t>(-extra));
    for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
      for (int64_t g = 0; g < plan.groups; ++g) {
        sum = _mm512_dpbusd_epi32(sum, column[kx * step + 4 * g + i], plan.ones[g]);
      }
    }
    acc[i] = _mm512_sub_epi32(acc[i], _mm512_mullo_epi32(_mm512_load_si512(zero_w + 16 * i), sum));
  }
}

// Where the pixels of one segment go.
struct DwSegment {
  uint8_t* dst = nullptr;  // of the first pixel and channel
  int64_t pixels = 0;
  int64_t first = 0, count = 64;  // channels
};

template <typename S, int kTaps>
void FinishSegment(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                   const DwSegment& segment) {
  const S form[4] = {S::Load(q, 0), S::Load(q, 16), S::Load(q, 32), S::Load(q, 48)};
  const Narrow narrow = Narrow::Load<S>(q);
  const __m512i* column = plan.columns;
  const int64_t step = args.window.stride_w * plan.groups * kDwQuarters;
  uint8_t* dst = segment.dst;
  for (int64_t i = 0; i < segment.pixels; ++i, column += step, dst += args.dst_pitch) {
    __m512i acc[4];
    DotPixel<kTaps>(plan, args.window, column, q.bias, acc);
    if (q.zero_w != nullptr) TakeOffZeroW(args, plan, q.zero_w, column, acc);
    StoreBytes(narrow.PackLanes(form[0].Scale(acc[0]), form[1].Scale(acc[1]), form[2].Scale(acc[2]),
                                form[3].Scale(acc[3])),
               dst, segment.count);
    if (args.after.run != nullptr) args.after.run(args.after.state, dst, segment.count);
  }
}

// Post-operations want the channels in order.
inline void FinishSegmentByFunction(const DepthwiseArgs& args, const DwPlan& plan,
                                    const RequantArgs& q, const DwSegment& segment) {
  const __m512i* column = plan.columns;
  const int64_t step = args.window.stride_w * plan.groups * kDwQuarters;
  uint8_t* dst = segment.dst;
  for (int64_t i = 0; i < segment.pixels; ++i, column += step, dst += args.dst_pitch) {
    __m512i acc[4];
    DotPixel<0>(plan, args.window, column, q.bias, acc);
    if (q.zero_w != nullptr) TakeOffZeroW(args, plan, q.zero_w, column, acc);
    alignas(64) int32_t quarters[64], row[64];
    for (int64_t j = 0; j < 4; ++j) _mm512_store_si512(quarters + 16 * j, acc[j]);
    OrderByQuarters(quarters, 0, row);  // its own inverse
    args.requant.finish(args.requant, segment.first, row, segment.count, dst);
    if (args.after.run != nullptr) args.after.run(args.after.state, dst, segment.count);
  }
}

inline void RunSegment(const DepthwiseArgs& args, const DwPlan& plan, const RequantArgs& q,
                       const DwSegment& segment) {
  if (q.post_ops) return FinishSegmentByFunction(args, plan, q, segment);
  const bool three = plan.groups == 1 && args.window.kernel_w == 3 && args.window.dilation_w == 1;
  WithRequant(q, [&](auto form) {
    using S = typename decltype(form)::Type;
    if (three) return FinishSegment<S, 3>(args, plan, q, segment);
    FinishSegment<S, 0>(args, plan, q, segment);
  });
}

inline void DriveDepthwiseDot(const DepthwiseArgs& args, const DepthwiseRange& range,
                              void* scratch) noexcept {
  const WindowArgs& w = args.window;
  const DwPlan plan = PlanDepthwise(args, scratch, nullptr);
  for (int64_t first = range.c_begin; first < range.c_end; first += kDwBlock) {
    PrepareWeights(args, plan, first);
    const RequantArgs q = OrderRequant(args, plan, first);
    DwSegment segment{.first = first};
    segment.count = range.c_end - first < kDwBlock ? range.c_end - first : kDwBlock;
    for (int64_t m = range.m_begin; m < range.m_end; m += segment.pixels) {
      const PixelCursor at = CursorAt(m, args.oh, args.ow);
      segment.pixels = args.ow - at.x;
      if (segment.pixels > plan.segment) segment.pixels = plan.segment;
      if (segment.pixels > range.m_end - m) segment.pixels = range.m_end - m;
      segment.dst = args.dst + m * args.dst_pitch + first;
      PrepareColumns(args, plan, first, at.batch, at.y, at.x * w.stride_w - w.pad_left,
                     plan.Columns(segment.pixels, w.stride_w));
      RunSegment(args, plan, q, segment);
    }
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DEPTHWISE_AVX512_H_
