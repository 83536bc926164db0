// From int32 accumulators to requantized values, 4 channels at a time, for every rounding of
// base/rounding.h (post-operations: finish.h).
// What it computes is quantize/numerics/requantize.h, bit for bit. AArch64 has the roundings
// themselves as instructions (shifts half up, SQRDMULH, conversions by mode), so that a form holds
// for any rshift.
//
// A form is a struct S:
//   static S Load(const RequantArgs& q, int64_t entry);   constants of channels entry .. entry + 3
//   int32x4_t Scale(int32x4_t acc) const;  4 complete accumulators, bias included -> v. The result
//                  is clamp(v + zero_y, lo, hi), and still is when v is saturated to s16.
//   static constexpr bool kAddsZero;       zero_y is in v already and not to be added again
#ifndef RSHIFT_RUNTIME_KERNELS_NEONDOT_REQUANT_H_
#define RSHIFT_RUNTIME_KERNELS_NEONDOT_REQUANT_H_

#include <arm_neon.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

// --- integer forms ---

// Two vectors of s64, saturated to s32.
inline int32x4_t NarrowPair(int64x2_t low, int64x2_t high) {
  return vqmovn_high_s64(vqmovn_s64(low), high);
}

struct HalfUp {
  static constexpr bool kAddsZero = false;
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
    return NarrowPair(vrshlq_s64(Low(acc), left_low), vrshlq_s64(High(acc), left_high));
  }
};

// One less where the product is negative and there is a shift: its ties then go down.
struct HalfAway {
  static constexpr bool kAddsZero = false;
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
    return NarrowPair(Shift(up.Low(acc), up.left_low, shifts_low),
                      Shift(up.High(acc), up.left_high, shifts_high));
  }
};

// kTwoStep and kTwoStepUp, also both among the channels (rshift >= 64).
struct TwoStep {
  static constexpr bool kAddsZero = false;
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

// --- float forms: conversions saturate ---

struct FloatEven {
  static constexpr bool kAddsZero = false;
  float32x4_t scale;

  static FloatEven Load(const RequantArgs& q, int64_t entry) {
    return {vld1q_f32(q.scale + entry)};
  }
  int32x4_t Scale(int32x4_t acc) const {
    return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(acc), scale));
  }
};

struct FloatZeroEven {
  static constexpr bool kAddsZero = true;
  float32x4_t bias, scale, zero;

  static FloatZeroEven Load(const RequantArgs& q, int64_t entry) {
    return {vld1q_f32(q.bias_f + entry), vld1q_f32(q.scale + entry),
            vdupq_n_f32(static_cast<float>(q.zero_y))};
  }
  int32x4_t Scale(int32x4_t acc) const {
    const float32x4_t v = vmulq_f32(vaddq_f32(vcvtq_f32_s32(acc), bias), scale);
    return vcvtnq_s32_f32(vaddq_f32(v, zero));
  }
};

struct DoubleAway {
  static constexpr bool kAddsZero = false;
  float64x2_t scale_low, scale_high;

  static DoubleAway Load(const RequantArgs& q, int64_t entry) {
    const int32x4_t upper = vld1q_s32(q.multiplier + entry), lower = vld1q_s32(q.rshift + entry);
    return {vreinterpretq_f64_s32(vzip1q_s32(lower, upper)),
            vreinterpretq_f64_s32(vzip2q_s32(lower, upper))};
  }
  static int64x2_t ScaleTwo(int64x2_t acc, float64x2_t scale) {
    return vcvtaq_s64_f64(vmulq_f64(vcvtq_f64_s64(acc), scale));
  }
  int32x4_t Scale(int32x4_t acc) const {
    return NarrowPair(ScaleTwo(vmovl_s32(vget_low_s32(acc)), scale_low),
                      ScaleTwo(vmovl_high_s32(acc), scale_high));
  }
};

struct HalfFloat {
  static constexpr bool kAddsZero = true;  // in the offset
  float32x4_t scale, scale_again, bias, least, quant_scale, quant_scale_again, offset;
  RealRounding mode;

  static HalfFloat Load(const RequantArgs& q, int64_t entry) {
    const HalfArgs& half = q.half;
    const float32x4_t one = vdupq_n_f32(1.0f), scale = vld1q_f32(q.scale + entry);
    const float32x4_t quant_scale = vdupq_n_f32(half.quant_scale);
    return {.scale = scale,
            .scale_again = half.sqrt_dequant ? scale : one,
            .bias = vld1q_f32(q.bias_f + entry),
            .least = vdupq_n_f32(half.relu ? 0.0f : -__builtin_inff()),
            .quant_scale = quant_scale,
            .quant_scale_again = half.sqrt_quant ? quant_scale : one,
            .offset = vdupq_n_f32(half.quant_offset),
            .mode = half.mode};
  }
  static float32x4_t ToHalf(float32x4_t v) { return vcvt_f32_f16(vcvt_f16_f32(v)); }
  int32x4_t Scale(int32x4_t acc) const {
    const float32x4_t product = vmulq_f32(vcvtq_f32_s32(acc), scale);
    const float32x4_t sum = vaddq_f32(ToHalf(vmulq_f32(product, scale_again)), bias);
    const float32x4_t h = vmaxq_f32(ToHalf(sum), least);
    return Round(vaddq_f32(vmulq_f32(vmulq_f32(h, quant_scale), quant_scale_again), offset));
  }
  // The mode is the same for a whole command: the branch is always predicted.
  int32x4_t Round(float32x4_t v) const {
    switch (mode) {
      case RealRounding::kEven:
        break;
      case RealRounding::kAway:
        return vcvtaq_s32_f32(v);
      case RealRounding::kFloor:
        return vcvtmq_s32_f32(v);
      case RealRounding::kCeil:
        return vcvtpq_s32_f32(v);
      case RealRounding::kTruncate:
        return vcvtq_s32_f32(v);
    }
    return vcvtnq_s32_f32(v);
  }
};

// --- finishing ---

// 16 values at a time -> bytes in order: saturated to s16, where zero_y is added and the clamp
// done; of those, s8 and u8 alike, the low byte is kept.
struct Narrow {
  int16x8_t zero, lo, hi;

  template <typename S>
  static Narrow Load(const RequantArgs& q) {
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

// --- choice ---

template <typename S>
struct Form {
  using Type = S;
};

// f(Form<S>{}) with the form for q. Not for q.post_ops.
template <typename F>
inline void WithRequant(const RequantArgs& q, const F& f) {
  switch (q.rounding) {
    case Rounding::kHalfUp:
      return f(Form<HalfUp>{});
    case Rounding::kTwoStep:
    case Rounding::kTwoStepUp:
      return f(Form<TwoStep>{});
    case Rounding::kHalfAway:
      return f(Form<HalfAway>{});
    case Rounding::kFloatEven:
      return f(Form<FloatEven>{});
    case Rounding::kFloatZeroEven:
      return f(Form<FloatZeroEven>{});
    case Rounding::kHalfFloat:
      return f(Form<HalfFloat>{});
    case Rounding::kDoubleAway:
      return f(Form<DoubleAway>{});
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_NEONDOT_REQUANT_H_
