// The operations that simd/requant_float.h needs, on 4 lanes of AArch64's NEON. What each one means
// is said in avx512.h. (The integer roundings are instructions here: neondot/requant.h.)
#ifndef RSHIFT_RUNTIME_KERNELS_SIMD_NEON_H_
#define RSHIFT_RUNTIME_KERNELS_SIMD_NEON_H_

#include <arm_neon.h>

#include <cstdint>

namespace rshift {
namespace {

struct Neon {
  static constexpr int kLanes = 4;
  static constexpr bool kPacksLow16 = false;
  static constexpr bool kConversionsSaturate = true;

  using Int = int32x4_t;
  using Float = float32x4_t;
  struct Doubles {
    float64x2_t low, high;
  };

  static Int Load(const int32_t* p) { return vld1q_s32(p); }
  static Float Load(const float* p) { return vld1q_f32(p); }
  static Float Set(float v) { return vdupq_n_f32(v); }

  // Two vectors of s64, saturated to s32.
  static Int Narrow64(int64x2_t low, int64x2_t high) {
    return vqmovn_high_s64(vqmovn_s64(low), high);
  }

  static Float Add(Float a, Float b) { return vaddq_f32(a, b); }
  static Float Mul(Float a, Float b) { return vmulq_f32(a, b); }
  static Float Min(Float a, Float b) { return vminq_f32(a, b); }
  static Float Max(Float a, Float b) { return vmaxq_f32(a, b); }
  static Float ToFloat(Int v) { return vcvtq_f32_s32(v); }
  static Int RoundEven(Float v) { return vcvtnq_s32_f32(v); }
  static Int Truncate(Float v) { return vcvtq_s32_f32(v); }
  static Int Floor(Float v) { return vcvtmq_s32_f32(v); }
  static Int Ceil(Float v) { return vcvtpq_s32_f32(v); }
  static Int RoundAway(Float v) { return vcvtaq_s32_f32(v); }
  static Float ThroughHalf(Float v) { return vcvt_f32_f16(vcvt_f16_f32(v)); }

  static Doubles FromWords(Int lower, Int upper) {
    return {vreinterpretq_f64_s32(vzip1q_s32(lower, upper)),
            vreinterpretq_f64_s32(vzip2q_s32(lower, upper))};
  }
  static Doubles ToDoubles(Int v) {
    return {vcvtq_f64_s64(vmovl_s32(vget_low_s32(v))), vcvtq_f64_s64(vmovl_high_s32(v))};
  }
  static Doubles Mul(const Doubles& a, const Doubles& b) {
    return {vmulq_f64(a.low, b.low), vmulq_f64(a.high, b.high)};
  }
  static Doubles Min(const Doubles& a, double b) {
    return {vminq_f64(a.low, vdupq_n_f64(b)), vminq_f64(a.high, vdupq_n_f64(b))};
  }
  static Int RoundAway(const Doubles& v) {
    return Narrow64(vcvtaq_s64_f64(v.low), vcvtaq_s64_f64(v.high));
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SIMD_NEON_H_
