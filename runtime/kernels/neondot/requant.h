// The requantizers of the integer roundings on AArch64 (what a requantizer is: simd/requant.h), and
// what all requantizers give -> bytes, 16 channels at a time. The roundings themselves are
// instructions here (shifts half up, SQRDMULH), so that each requantizer holds for any rshift.
#ifndef RSHIFT_RUNTIME_KERNELS_NEONDOT_REQUANT_H_
#define RSHIFT_RUNTIME_KERNELS_NEONDOT_REQUANT_H_

#include <arm_neon.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"
#include "runtime/kernels/simd/neon.h"
#include "runtime/kernels/simd/requant.h"

namespace rshift {
namespace {

struct HalfUp {
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  int32x4_t multiplier;
  int64x2_t left_low, left_high;  // -rshift: SRSHL adds 2^(rshift - 1) without overflow

  static HalfUp Load(const RequantArgs& q, int64_t entry) {
    const int32x4_t left = vnegq_s32(vld1q_s32(q.rshift + entry));
    return {vld1q_s32(q.multiplier + entry), vmovl_s32(vget_low_s32(left)), vmovl_high_s32(left)};
  }
  int64x2_t Low(int32x4_t acc) const {
    return vmull_s32(vget_low_s32(acc), vget_low_s32(multiplier));
  }
  int64x2_t High(int32x4_t acc) const { return vmull_high_s32(acc, multiplier); }
  int32x4_t Scale(int32x4_t acc) const {
    return Neon::Narrow64(vrshlq_s64(Low(acc), left_low), vrshlq_s64(High(acc), left_high));
  }
};

// One less where the product is negative and there is a shift: its ties then go down.
struct HalfAway {
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  HalfUp up;
  int64x2_t shifts_low, shifts_high;  // all bits where rshift > 0

  static HalfAway Load(const RequantArgs& q, int64_t entry) {
    const HalfUp up = HalfUp::Load(q, entry);
    return {up, vreinterpretq_s64_u64(vcltzq_s64(up.left_low)),
            vreinterpretq_s64_u64(vcltzq_s64(up.left_high))};
  }
  static int64x2_t Shift(int64x2_t product, int64x2_t left, int64x2_t shifts) {
    const int64x2_t less = vandq_s64(vshrq_n_s64(product, 63), shifts);
    return vrshlq_s64(vaddq_s64(product, less), left);
  }
  int32x4_t Scale(int32x4_t acc) const {
    return Neon::Narrow64(Shift(up.Low(acc), up.left_low, shifts_low),
                          Shift(up.High(acc), up.left_high, shifts_high));
  }
};

// kTwoStep and kTwoStepUp, also both among the channels (rshift >= 64).
struct TwoStep {
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  int32x4_t multiplier;
  int32x4_t first, second;  // left shifts: before the product (>= 0), behind it (<= 0)
  int32x4_t away;           // all bits where the second step is away from zero

  static TwoStep Load(const RequantArgs& q, int64_t entry) {
    const int32x4_t rshift = vld1q_s32(q.rshift + entry), zero = vdupq_n_s32(0);
    const uint32x4_t marked =
        q.rounding == Rounding::kTwoStep ? vdupq_n_u32(~0u) : vcgtq_s32(rshift, vdupq_n_s32(63));
    const int32x4_t left = vsubq_s32(vdupq_n_s32(31), vandq_s32(rshift, vdupq_n_s32(63)));
    const int32x4_t second = vminq_s32(left, zero);
    return {vld1q_s32(q.multiplier + entry), vmaxq_s32(left, zero), second,
            vreinterpretq_s32_u32(vandq_u32(marked, vcltzq_s32(second)))};
  }
  int32x4_t Scale(int32x4_t acc) const {
    const int32x4_t p = vqrdmulhq_s32(vshlq_s32(acc, first), multiplier);
    return vrshlq_s32(vaddq_s32(p, vandq_s32(away, vshrq_n_s32(p, 31))), second);
  }
};

// 16 values of requantizer S at a time -> bytes in order: saturated to s16, where zero_y is added
// and the clamp done; of those, s8 and u8 alike, the low byte is kept.
template <typename S>
struct SaturatingPack {
  int16x8_t zero, lo, hi;

  static SaturatingPack Load(const RequantArgs& q) {
    return {vdupq_n_s16(static_cast<int16_t>(S::kAddsZero ? 0 : q.zero_y)),
            vdupq_n_s16(static_cast<int16_t>(q.lo)), vdupq_n_s16(static_cast<int16_t>(q.hi))};
  }
  int16x8_t Eight(int32x4_t v0, int32x4_t v1) const {
    const int16x8_t v = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(v0), v1), zero);
    return vminq_s16(vmaxq_s16(v, lo), hi);
  }
  uint8x16_t Pack(int32x4_t v0, int32x4_t v1, int32x4_t v2, int32x4_t v3) const {
    return vreinterpretq_u8_s8(vmovn_high_s16(vmovn_s16(Eight(v0, v1)), Eight(v2, v3)));
  }
};

// WithRequantizer of the integer roundings.
template <typename F>
inline void WithIntegerRequantizer(Neon, const RequantArgs& q, const F& f) {
  if (q.rounding == Rounding::kHalfUp) return f(RequantizerTag<HalfUp>{});
  if (q.rounding == Rounding::kHalfAway) return f(RequantizerTag<HalfAway>{});
  f(RequantizerTag<TwoStep>{});
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_NEONDOT_REQUANT_H_
