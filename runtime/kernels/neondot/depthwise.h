// Depthwise convolution: 16 channels, one multiply-accumulate of s16 for each tap of a pair.
#ifndef RSHIFT_RUNTIME_KERNELS_NEONDOT_DEPTHWISE_H_
#define RSHIFT_RUNTIME_KERNELS_NEONDOT_DEPTHWISE_H_

#include <arm_neon.h>

#include <cstring>

#include "runtime/kernels/driver/depthwise.h"
#include "runtime/kernels/neondot/finish.h"

namespace rshift {
namespace {

struct DepthwiseUnit {
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

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_NEONDOT_DEPTHWISE_H_
