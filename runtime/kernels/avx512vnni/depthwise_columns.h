// What depthwise.h prepares before it multiplies: the sizes, and weights, constants and
// columns in the order of the quarters.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_COLUMNS_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_COLUMNS_H_

#include "runtime/kernels/avx512vnni/conv.h"

namespace rshift {
namespace {

constexpr int64_t kDwBlock = 64, kDwQuarters = 4;
constexpr int64_t kDwColumnBytes = 16 * 1024;  // of a segment: half the first-level cache
constexpr int64_t kDwArrays = 10;  // at most: bias, zero_w and four of scales, twice; of a
                                   // block, 64 words each, in quarter order

// Sizes that follow from the shape, and the parts of the thread's scratch.
struct DwPlan {
  int64_t groups = 1;   // of four kernel rows
  int64_t span = 1;     // input columns under one output pixel
  int64_t segment = 1;  // output pixels whose columns are kept at once
  // 2 where a group has room for the rows of the next output row, too: it reads the same columns,
  // with the weights moved down by stride_h.
  int64_t output_rows = 1;
  __m512i* weights = nullptr;  // [output_rows][kernel_w][groups][4]
  __m512i* ones = nullptr;     // [output_rows][groups]: 1 for each row that exists
  int32_t* arrays = nullptr;   // [kDwArrays][64]
  __m512i* columns = nullptr;  // [(segment - 1) * stride_w + span][groups][4]

  int64_t Columns(int64_t pixels, int64_t stride) const { return (pixels - 1) * stride + span; }
  // What computes the second of two output rows.
  DwPlan Second(const Window& w) const {
    DwPlan second = *this;
    second.weights += w.kernel_w * groups * kDwQuarters;
    second.ones += groups;
    return second;
  }
};

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

inline DwPlan PlanDepthwise(const DepthwiseArgs& args, void* scratch, size_t* bytes) {
  const Window& w = args.window;
  DwPlan plan;
  plan.groups = (w.kernel_h + 3) / 4;
  plan.span = (w.kernel_w - 1) * w.dilation_w + 1;
  const int64_t columns = kDwColumnBytes / (256 * plan.groups);
  plan.segment = columns > plan.span ? (columns - plan.span) / w.stride_w + 1 : 1;
  if (plan.segment > args.ow) plan.segment = args.ow;
  plan.output_rows = w.dilation_h == 1 && w.kernel_h + w.stride_h <= 4 ? 2 : 1;
  // In vectors of 64 bytes, one behind the other.
  const int64_t weights = plan.output_rows * w.kernel_w * plan.groups * kDwQuarters;
  const int64_t ones = plan.output_rows * plan.groups, arrays = kDwArrays * 4;
  const int64_t kept = plan.Columns(plan.segment, w.stride_w) * plan.groups * kDwQuarters;
  if (bytes != nullptr)
    *bytes = static_cast<size_t>(weights + ones + arrays + kept) * sizeof(__m512i);
  if (scratch == nullptr) return plan;
  plan.weights = static_cast<__m512i*>(scratch);
  plan.ones = plan.weights + weights;
  plan.arrays = reinterpret_cast<int32_t*>(plan.ones + ones);
  plan.columns = plan.ones + ones + arrays;
  return plan;
}

inline size_t DepthwiseDotScratchBytes(const DepthwiseArgs& args) noexcept {
  size_t bytes = 0;
  PlanDepthwise(args, nullptr, &bytes);
  return bytes;
}

// Four rows of 64 channels -> quarters.
[[gnu::always_inline]] inline void InterleaveRows(__m512i r0, __m512i r1, __m512i r2, __m512i r3,
                                                  __m512i (&out)[4]) {
  const __m512i lo01 = _mm512_unpacklo_epi8(r0, r1), hi01 = _mm512_unpackhi_epi8(r0, r1);
  const __m512i lo23 = _mm512_unpacklo_epi8(r2, r3), hi23 = _mm512_unpackhi_epi8(r2, r3);
  out[0] = _mm512_unpacklo_epi16(lo01, lo23);
  out[1] = _mm512_unpackhi_epi16(lo01, lo23);
  out[2] = _mm512_unpacklo_epi16(hi01, hi23);
  out[3] = _mm512_unpackhi_epi16(hi01, hi23);
}
[[gnu::always_inline]] inline void Interleave(__m512i r0, __m512i r1, __m512i r2, __m512i r3,
                                              __m512i* out) {
  __m512i quarters[4];
  InterleaveRows(r0, r1, r2, r3, quarters);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) _mm512_store_si512(out + i, quarters[i]);
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
  const Window& w = args.window;
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
    const int64_t left = w.kernel_h - 4 * g;
    const uint32_t ones = left >= 4 ? 0x01010101 : 0x01010101u >> (32 - 8 * left);
    _mm512_store_si512(plan.ones + g, _mm512_set1_epi32(static_cast<int32_t>(ones)));
  }
  if (plan.output_rows == 1) return;
  // Of the next output row: one group, moved down.
  const DwPlan second = plan.Second(w);
  const auto down = static_cast<unsigned>(8 * w.stride_h);
  for (int64_t i = 0; i < w.kernel_w * kDwQuarters; ++i)
    second.weights[i] = _mm512_slli_epi32(plan.weights[i], down);
  second.ones[0] = _mm512_slli_epi32(plan.ones[0], down);
}

// Words of a per-channel array in the order of the quarters: 64, or the first 32 twice. Whole
// registers: a load that spans stores waits for them.
inline void OrderByQuarters(const void* from, int64_t entry, bool halves, int32_t* to) {
  const int32_t* source = static_cast<const int32_t*>(from) + entry;
  const auto load = [&](int64_t at) { return _mm512_loadu_si512(source + at); };
  const __m512i z0 = load(0), z1 = load(16);
  const __m512i z2 = halves ? z0 : load(32), z3 = halves ? z1 : load(48);
  const __m512i low01 = _mm512_shuffle_i32x4(z0, z1, 0x44);
  const __m512i high01 = _mm512_shuffle_i32x4(z0, z1, 0xee);
  const __m512i low23 = _mm512_shuffle_i32x4(z2, z3, 0x44);
  const __m512i high23 = _mm512_shuffle_i32x4(z2, z3, 0xee);
  _mm512_store_si512(to, _mm512_shuffle_i32x4(low01, low23, 0x88));
  _mm512_store_si512(to + 16, _mm512_shuffle_i32x4(low01, low23, 0xdd));
  _mm512_store_si512(to + 32, _mm512_shuffle_i32x4(high01, high23, 0x88));
  _mm512_store_si512(to + 48, _mm512_shuffle_i32x4(high01, high23, 0xdd));
}

// The requantization of channels [first, first + 64) as entries 0..63 in the order of the quarters;
// `bias` is the one that goes with unsigned x. *negative: what the result's `negative` points to.
inline RequantArgs OrderRequant(const DepthwiseArgs& args, const DwPlan& plan, int64_t first,
                                bool halves, RequantArgs* negative) {
  RequantArgs q = args.requant;
  int32_t* next = plan.arrays;
  const auto order = [&]<typename T>(const T** array) {
    if (*array == nullptr) return;
    OrderByQuarters(*array, first, halves, next);
    *array = reinterpret_cast<const T*>(next);
    next += 64;
  };
  q.bias = args.src_signed ? q.bias_flipped : q.bias;
  order(&q.bias);
  const auto order_words = [&](RequantArgs& of) {
    order(&of.ratio);
    if (of.ratio != nullptr) return;  // it is all there is to know
    order(&of.multiplier);
    order(&of.rshift);
    order(&of.high_half);
    order(&of.high_shift);
  };
  order_words(q);
  if (q.negative != nullptr) {
    *negative = *q.negative;
    order_words(*negative);
    q.negative = negative;
  }
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

// Computed by itself: g++ 12 would gather addresses in vectors, through memory, and a load that
// spans stores waits for them and all before them.
template <typename T>
[[gnu::always_inline]] inline T Scalar(T x) {
  asm("" : "+r"(x));
  return x;
}

// Where group g of the kernel rows under `output_rows` rows from at.y on reads.
[[gnu::always_inline]] inline DwLines LinesUnder(const DepthwiseArgs& args, int64_t output_rows,
                                                 int64_t first, const PixelCursor& at, int64_t g) {
  const Window& w = args.window;
  const uint8_t* zeros = args.zero_row + first;
  DwLines lines;
  const int64_t rows = w.kernel_h + (output_rows - 1) * w.stride_h;
#pragma GCC unroll 4
  for (int64_t r = 0; r < 4; ++r) {
    const int64_t ky = 4 * g + r, iy = at.y * w.stride_h - w.pad_top + ky * w.dilation_h;
    const bool inside = ky < rows && iy >= 0 && iy < args.ih;
    const uint8_t* line =
        inside ? args.src + (at.batch * args.ih + iy) * args.iw * args.src_pitch + first : zeros;
    lines.at[r] = Scalar(line);
    lines.step[r] = Scalar(inside ? args.src_pitch : 0);
  }
  return lines;
}

// The input columns [x, x + count) under plan.output_rows output rows from at.y on, of channels
// [first, first + 64), interleaved; with apart > 0 channels [first, first + 32) of those columns
// and of the ones `apart` further on.
inline void PrepareColumns(const DepthwiseArgs& args, const DwPlan& plan, int64_t first,
                           const PixelCursor& at, int64_t x, int64_t count, int64_t apart) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(args.src_signed ? 0x80 : 0));
  const uint8_t* zeros = args.zero_row + first;
  const DwLines outside = {{zeros, zeros, zeros, zeros}, {0, 0, 0, 0}};
  const int64_t step = plan.groups * kDwQuarters;
  const int64_t before = x < 0 ? (-x < count ? -x : count) : 0;
  const int64_t end = x + count < args.iw ? count : args.iw - x;
  const int64_t inside_end = end > before ? end : before;
  for (int64_t g = 0; g < plan.groups; ++g) {
    const DwLines lines = LinesUnder(args, plan.output_rows, first, at, g);
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

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_COLUMNS_H_
