// Kernels for AArch64 with the dot product extension: 6 pixels x 16 channels in 24 accumulators of
// four, s8 x s8 dot products of four by lane (sdot; u8 activations are XORed with 0x80, which the
// bias makes good).
#include "runtime/kernels/kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstring>

#include "runtime/kernels/conv_driver.h"
#include "runtime/kernels/depthwise_driver.h"
#include "runtime/kernels/peak.h"
#include "runtime/kernels/requant_neon.h"

namespace rshift {
namespace {

constexpr int kTileRows = 6;
constexpr int64_t kColumn = 16;  // channels finished at a time

// Stores the first `count` of 16 bytes; more than 16 count as 16.
inline void StoreBytes(uint8_t* dst, uint8x16_t bytes, int64_t count) {
  if (count >= 16)
    vst1q_u8(dst, bytes);
  else
    std::memcpy(dst, &bytes, static_cast<size_t>(count));
}

// --- from accumulators to bytes ---

// Complete accumulators of `pixels` x 16 channels and where their bytes go.
struct ColumnArgs {
  int64_t entry = 0;  // of the first channel
  const int32_t (*rows)[kColumn] = nullptr;
  int64_t pixels = 1;
  uint8_t* dst = nullptr;  // of the first pixel and channel
  int64_t dst_stride = 0;
  int64_t real = kColumn;  // channels stored; more than 16 count as 16
};

template <typename S>
void FinishByForm(const RequantArgs& q, const ColumnArgs& column) {
  const S s[4] = {S::Load(q, column.entry), S::Load(q, column.entry + 4),
                  S::Load(q, column.entry + 8), S::Load(q, column.entry + 12)};
  const Narrow narrow = Narrow::Load<S>(q);
  uint8_t* dst = column.dst;
  for (int64_t r = 0; r < column.pixels; ++r, dst += column.dst_stride) {
    const int32_t* acc = column.rows[r];
    StoreBytes(dst,
               narrow.Pack(s[0].Scale(vld1q_s32(acc)), s[1].Scale(vld1q_s32(acc + 4)),
                           s[2].Scale(vld1q_s32(acc + 8)), s[3].Scale(vld1q_s32(acc + 12))),
               column.real);
  }
}

void FinishColumn(const RequantArgs& q, const ColumnArgs& column) {
  if (!q.post_ops) {
    return WithRequant(q,
                       [&](auto form) { FinishByForm<typename decltype(form)::Type>(q, column); });
  }
  for (int64_t r = 0; r < column.pixels; ++r) {
    q.finish(q, column.entry, column.rows[r], column.real < kColumn ? column.real : kColumn,
             column.dst + r * column.dst_stride);
  }
}

// RequantizeFn: all rows by the constants of entry 0.
void RequantizeAll(const RequantArgs& q, const int32_t* acc, int64_t count, uint8_t* dst) noexcept {
  const auto* rows = reinterpret_cast<const int32_t(*)[kColumn]>(acc);
  const int64_t whole = count / kColumn, rest = count % kColumn;
  FinishColumn(q, {.rows = rows, .pixels = whole, .dst = dst, .dst_stride = kColumn});
  if (rest == 0) return;
  FinishColumn(q, {.rows = rows + whole, .pixels = 1, .dst = dst + whole * kColumn, .real = rest});
}

// --- convolution ---

// Dot products of K positions 4 * kLane .. 4 * kLane + 3 of each pixel's sixteen.
template <int kLane, int R>
inline void DotLane(const int8_t* w, const int8x16_t (&x)[R], int32x4_t (&acc)[R][4]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int8x16_t b = vld1q_s8(w + 16 * i);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) acc[r][i] = vdotq_laneq_s32(acc[r][i], b, x[r], kLane);
  }
}

// R pixels x 16 channels under one tap: `ic4` K positions, `line` bytes of weights for each four.
template <int R>
inline void DotTap(const uint8_t* const (&rows)[R], const int8_t* w, int64_t line, int64_t ic4,
                   uint8x16_t flip, int32x4_t (&acc)[R][4]) {
  int8x16_t x[R];
  int64_t k = 0;
  for (; k + 16 <= ic4; k += 16, w += 4 * line) {
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      x[r] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(rows[r] + k), flip));
    }
    DotLane<0, R>(w, x, acc);
    DotLane<1, R>(w + line, x, acc);
    DotLane<2, R>(w + 2 * line, x, acc);
    DotLane<3, R>(w + 3 * line, x, acc);
  }
  for (; k < ic4; k += 4, w += line) {  // ic4 is a multiple of four, no more
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      uint32_t four;
      std::memcpy(&four, rows[r] + k, sizeof four);
      x[r] = vreinterpretq_s8_u8(veorq_u8(vreinterpretq_u8_u32(vdupq_n_u32(four)), flip));
    }
    DotLane<0, R>(w, x, acc);
  }
}

// What activations are XORed with.
inline uint8_t FlipOf(const ConvArgs& args) { return args.src_signed ? 0 : 0x80; }

// R pixels x 16 channels of the panel, from channel `first`.
template <int R>
void DotColumn(const ConvArgs& args, const TileArgs& t, int64_t first) {
  const RequantArgs& q = args.requant;
  const int64_t entry = t.entry + first, line = t.width * 4;
  const int32_t* bias = (args.src_signed ? q.bias : q.bias_flipped) + entry;
  int32x4_t acc[R][4];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) acc[r][i] = vld1q_s32(bias + 4 * i);
  }
  const uint8x16_t flip = vdupq_n_u8(FlipOf(args));
  const int8_t* w = t.weights + first * 4;
  for (int64_t tap = 0; tap < t.taps; ++tap) {
    const uint8_t* x[R];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) x[r] = t.rows[tap * kTileRows + r] + t.channel_offset;
    DotTap<R>(x, w, line, args.ic4, flip, acc);
    w += args.ic4 / 4 * line + t.gaps[tap] * t.width;
  }
  int32_t rows[R][kColumn];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (t.sums != nullptr) {
        acc[r][i] = vmlsq_n_s32(acc[r][i], vld1q_s32(q.zero_w + entry + 4 * i), t.sums[r]);
      }
      vst1q_s32(rows[r] + 4 * i, acc[r][i]);
    }
  }
  FinishColumn(q, {.entry = entry,
                   .rows = rows,
                   .pixels = R,
                   .dst = t.dst + first,
                   .dst_stride = t.dst_stride,
                   .real = t.real - first});
}

// --- depthwise: 16 channels, one multiply-accumulate of s16 for each tap of the pair ---

struct Unit {
  static constexpr int kRows = kTileRows;
  static constexpr int64_t kMacsPerCycle = 32;
  static int64_t TileRows(const ConvArgs&) { return kRows; }
  static uint8_t Flip(const ConvArgs& args) { return FlipOf(args); }
  template <int R>
  static void Tile(const ConvArgs& args, const TileArgs& tile) {
    for (int64_t first = 0; first < tile.real; first += kColumn) DotColumn<R>(args, tile, first);
  }

  static constexpr int kDwChannels = kColumn;
  struct Pair {
    int32x4_t sums[4];
  };
  static Pair Zero() {
    const int32x4_t zero = vdupq_n_s32(0);
    return {{zero, zero, zero, zero}};
  }
  // No interleaving: the weights of one tap, then those of the other.
  static void WidenWeights(const int8_t* w, const int16_t* zero_w, int16_t* out) {
    for (int i = 0; i < kDwChannels; i += 8) {
      const int16x8_t wide = vmovl_s8(vld1_s8(w + i));
      vst1q_s16(out + i, zero_w == nullptr ? wide : vsubq_s16(wide, vld1q_s16(zero_w + i)));
    }
  }
  static void InterleaveWeights(const int8_t* w0, const int8_t* w1, const int16_t* zero_w,
                                int16_t* out) {
    WidenWeights(w0, zero_w, out);
    if (w1 != nullptr) return WidenWeights(w1, zero_w, out + kDwChannels);
    std::memset(out + kDwChannels, 0, kDwChannels * sizeof(int16_t));
  }
  static void AddTap(Pair& acc, const uint8_t* x, const int16_t* weights, bool is_signed) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const uint8x8_t bytes = vld1_u8(x + 8 * i);
      const int16x8_t wide =
          is_signed ? vmovl_s8(vreinterpret_s8_u8(bytes)) : vreinterpretq_s16_u16(vmovl_u8(bytes));
      const int16x8_t w = vld1q_s16(weights + 8 * i);
      acc.sums[2 * i] = vmlal_s16(acc.sums[2 * i], vget_low_s16(wide), vget_low_s16(w));
      acc.sums[2 * i + 1] = vmlal_high_s16(acc.sums[2 * i + 1], wide, w);
    }
  }
  static void AddPair(Pair& acc, const uint8_t* x0, const uint8_t* x1, const int16_t* weights,
                      bool is_signed) {
    AddTap(acc, x0, weights, is_signed);
    AddTap(acc, x1, weights + kDwChannels, is_signed);
  }
  static void StoreSums(const Pair& acc, const int32_t* bias, int32_t* row) {
    for (int i = 0; i < 4; ++i) {
      vst1q_s32(row + 4 * i, vaddq_s32(acc.sums[i], vld1q_s32(bias + 4 * i)));
    }
  }
  static void Finish(const RequantArgs& q, int64_t entry, const int32_t (*rows)[kDwChannels],
                     int64_t pixels, uint8_t* dst, int64_t dst_stride, int64_t count) {
    FinishColumn(q, {entry, rows, pixels, dst, dst_stride, count});
  }
};

// --- pools ---

void MaxPool(const PoolWindow& window, int64_t count, bool is_signed, uint8_t* dst) noexcept {
  const uint8x16_t flip = vdupq_n_u8(is_signed ? 0x80 : 0);  // s8 order as u8 order
  for (int64_t c = 0; c < count; c += 16) {
    uint8x16_t best = vdupq_n_u8(0);
    for (int64_t y = 0; y < window.rows; ++y) {
      const uint8_t* tap = window.base + c + y * window.row_step;
      for (int64_t x = 0; x < window.columns; ++x, tap += window.column_step) {
        best = vmaxq_u8(best, veorq_u8(vld1q_u8(tap), flip));
      }
    }
    StoreBytes(dst + c, veorq_u8(best, flip), count - c);
  }
}

void SumPool(const PoolWindow& window, int64_t count, bool is_signed, int32_t* sum) noexcept {
  for (int64_t c = 0; c < count; c += 8) {
    int32x4_t low = vdupq_n_s32(0), high = low;
    for (int64_t y = 0; y < window.rows; ++y) {
      const uint8_t* tap = window.base + c + y * window.row_step;
      for (int64_t x = 0; x < window.columns; ++x, tap += window.column_step) {
        const uint8x8_t bytes = vld1_u8(tap);
        const int16x8_t wide = is_signed ? vmovl_s8(vreinterpret_s8_u8(bytes))
                                         : vreinterpretq_s16_u16(vmovl_u8(bytes));
        low = vaddw_s16(low, vget_low_s16(wide));
        high = vaddw_high_s16(high, wide);
      }
    }
    vst1q_s32(sum + c, low);
    vst1q_s32(sum + c + 4, high);
  }
}

int64_t Peak(int64_t rounds) noexcept {
  constexpr int kDots = 24;
  RunDots<kDots>(rounds, vdupq_n_s32(0x01010101), vdupq_n_s32(0x02020202),
                 [](int32x4_t acc, int32x4_t a, int32x4_t b) {
                   return vdotq_s32(acc, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
                 });
  return rounds * kDots * 16;
}

}  // namespace

const KernelTable kNeonDotKernels = {.conv = DriveConv<Unit>,
                                     .conv_scratch = ConvScratchBytes<Unit>,
                                     .depthwise = DriveDepthwise<Unit>,
                                     .depthwise_scratch = DepthwiseScratchBytes<Unit>,
                                     .max_pool = MaxPool,
                                     .sum_pool = SumPool,
                                     .requantize = RequantizeAll,
                                     .peak = Peak};

}  // namespace rshift
#endif
