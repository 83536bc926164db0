// The convolution tile: 6 pixels x 16 channels in 24 accumulators of four, s8 x s8 dot products of
// four by lane (sdot; u8 activations are XORed with 0x80, which the bias makes good).
#ifndef RSHIFT_RUNTIME_KERNELS_NEONDOT_CONV_H_
#define RSHIFT_RUNTIME_KERNELS_NEONDOT_CONV_H_

#include <arm_neon.h>

#include <cstring>

#include "runtime/kernels/driver/conv.h"
#include "runtime/kernels/neondot/finish.h"

namespace rshift {
namespace {

constexpr int kTileRows = 6;

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

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_NEONDOT_CONV_H_
