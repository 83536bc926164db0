// The operations that requantization needs, on 8 lanes of AVX2 (with FMA and F16C). What each one
// means is said in avx512.h; a mask is all bits or none in each lane here.
#ifndef RSHIFT_RUNTIME_KERNELS_SIMD_AVX2_H_
#define RSHIFT_RUNTIME_KERNELS_SIMD_AVX2_H_

#include <immintrin.h>

#include <cstdint>

namespace rshift {
namespace {

struct Avx2 {
  static constexpr int kLanes = 8;
  static constexpr bool kPacksLow16 = false;
  static constexpr bool kConversionsSaturate = false;

  using Int = __m256i;
  using Float = __m256;
  using Mask = __m256i;
  struct Doubles {
    __m256d low, high;
  };

  // --- memory and constants ---
  static Int Load(const int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static Float Load(const float* p) { return _mm256_loadu_ps(p); }
  static Int Set(int32_t v) { return _mm256_set1_epi32(v); }
  static Int Set64(int64_t v) { return _mm256_set1_epi64x(v); }
  static Float Set(float v) { return _mm256_set1_ps(v); }

  // --- int32 ---
  static Int Add(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static Int Sub(Int a, Int b) { return _mm256_sub_epi32(a, b); }
  static Int And(Int a, Int b) { return _mm256_and_si256(a, b); }
  static Int Not(Int a) { return _mm256_xor_si256(a, Set(-1)); }
  static Int Min(Int a, Int b) { return _mm256_min_epi32(a, b); }
  static Int Max(Int a, Int b) { return _mm256_max_epi32(a, b); }
  static Int MinUnsigned(Int a, Int b) { return _mm256_min_epu32(a, b); }
  static Int Abs(Int a) { return _mm256_abs_epi32(a); }
  static Int WithSignOf(Int magnitude, Int sign) { return _mm256_sign_epi32(magnitude, sign); }
  template <int kBits>
  static Int ShiftLeft(Int a) {
    return _mm256_slli_epi32(a, kBits);
  }
  template <int kBits>
  static Int ShiftRight(Int a) {
    return _mm256_srai_epi32(a, kBits);
  }
  static Int ShiftLeft(Int a, Int bits) { return _mm256_sllv_epi32(a, bits); }
  static Int ShiftRight(Int a, Int bits) { return _mm256_srav_epi32(a, bits); }
  static Int ShiftRightUnsigned(Int a, Int bits) { return _mm256_srlv_epi32(a, bits); }

  // --- masks ---
  static Mask Greater(Int a, Int b) { return _mm256_cmpgt_epi32(a, b); }
  static Mask Equal(Int a, Int b) { return _mm256_cmpeq_epi32(a, b); }
  static Mask Negative(Int a) { return ShiftRight<31>(a); }
  static Mask Both(Mask a, Mask b) { return And(a, b); }
  static Int Select(Mask m, Int a, Int b) { return _mm256_blendv_epi8(b, a, m); }
  static Float Select(Mask m, Float a, Float b) {
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m));
  }
  static Int Keep(Mask m, Int a) { return And(m, a); }
  static Int AddWhere(Mask m, Int a, Int b) { return Add(a, And(m, b)); }
  static Int SubWhere(Mask m, Int a, Int b) { return Sub(a, And(m, b)); }

  // --- products in 64 bits ---
  static Int OddLanes(Int v) { return _mm256_srli_epi64(v, 32); }
  static Int EvenLanes(Int v) { return _mm256_blend_epi32(v, _mm256_setzero_si256(), 0xaa); }
  static Int MulEven(Int a, Int b) { return _mm256_mul_epi32(a, b); }
  static Int MulEvenUnsigned(Int a, Int b) { return _mm256_mul_epu32(a, b); }
  static Int Add64(Int a, Int b) { return _mm256_add_epi64(a, b); }
  static Int Sub64(Int a, Int b) { return _mm256_sub_epi64(a, b); }
  static Int ShiftLeft64(Int a, Int bits) { return _mm256_sllv_epi64(a, bits); }
  template <int kBits>
  static Int ShiftRightUnsigned64(Int a) {
    return _mm256_srli_epi64(a, kBits);
  }
  template <int kBits>
  static Int ShiftRightUnsigned(Int a) {
    return _mm256_srli_epi32(a, kBits);
  }
  static Int HighHalves(Int even, Int odd) { return _mm256_blend_epi32(OddLanes(even), odd, 0xaa); }

  // --- binary32 ---
  static Float Add(Float a, Float b) { return _mm256_add_ps(a, b); }
  static Float Mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Float MulAdd(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Float Min(Float a, Float b) { return _mm256_min_ps(a, b); }
  static Float Max(Float a, Float b) { return _mm256_max_ps(a, b); }
  static Int Bits(Float v) { return _mm256_castps_si256(v); }
  static Float ToFloat(Int v) { return _mm256_cvtepi32_ps(v); }
  static Int RoundEven(Float v) { return _mm256_cvtps_epi32(v); }
  static Int Truncate(Float v) { return _mm256_cvttps_epi32(v); }
  static Int Floor(Float v) { return Truncate(_mm256_floor_ps(v)); }
  static Int Ceil(Float v) { return Truncate(_mm256_ceil_ps(v)); }
  static Int RoundAway(Float v) {
    const Float half = Set(0.49999997f), sign = Set(-0.0f);
    return Truncate(Add(v, _mm256_or_ps(_mm256_and_ps(v, sign), half)));
  }
  static Float ThroughHalf(Float v) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }

  // --- binary64 ---
  static Doubles FromWords(Int lower, Int upper) {
    const Int a = _mm256_unpacklo_epi32(lower, upper);  // 0, 1, 4, 5
    const Int b = _mm256_unpackhi_epi32(lower, upper);  // 2, 3, 6, 7
    return {_mm256_castsi256_pd(_mm256_permute2x128_si256(a, b, 0x20)),
            _mm256_castsi256_pd(_mm256_permute2x128_si256(a, b, 0x31))};
  }
  static Doubles ToDoubles(Int v) {
    return {_mm256_cvtepi32_pd(_mm256_castsi256_si128(v)),
            _mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1))};
  }
  static Doubles Mul(const Doubles& a, const Doubles& b) {
    return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
  }
  static Doubles Min(const Doubles& a, double b) {
    return {_mm256_min_pd(a.low, _mm256_set1_pd(b)), _mm256_min_pd(a.high, _mm256_set1_pd(b))};
  }
  static Int RoundAway(const Doubles& v) {
    return _mm256_setr_m128i(RoundFourAway(v.low), RoundFourAway(v.high));
  }

 private:
  static __m128i RoundFourAway(__m256d v) {
    const __m256d half = _mm256_set1_pd(0.49999999999999994), sign = _mm256_set1_pd(-0.0);
    return _mm256_cvttpd_epi32(_mm256_add_pd(v, _mm256_or_pd(_mm256_and_pd(v, sign), half)));
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SIMD_AVX2_H_
