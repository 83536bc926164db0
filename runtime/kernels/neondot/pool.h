// Pooling windows, 16 or 8 channels at a time.
#ifndef RSHIFT_RUNTIME_KERNELS_NEONDOT_POOL_H_
#define RSHIFT_RUNTIME_KERNELS_NEONDOT_POOL_H_

#include <arm_neon.h>

#include "runtime/kernels/neondot/finish.h"

namespace rshift {
namespace {

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

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_NEONDOT_POOL_H_
