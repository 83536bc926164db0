// The operations that requantization needs, on 16 lanes of AVX-512 (F, BW, DQ, VL): the vocabulary
// of simd/requant_integer.h and simd/requant_float.h. The others have the same names with the same
// meaning (avx2.h; neon.h, what the float forms use).
#ifndef RSHIFT_RUNTIME_KERNELS_SIMD_AVX512_H_
#define RSHIFT_RUNTIME_KERNELS_SIMD_AVX512_H_

#include <immintrin.h>

#include <cstdint>

namespace rshift {
namespace {

struct Avx512 {
  static constexpr int kLanes = 16;
  // Packing to bytes takes the lower 16 bits of each lane and ignores the upper ones.
  static constexpr bool kPacksLow16 = true;
  // A float that no int32 holds becomes the nearest one that is; otherwise it becomes INT32_MIN.
  static constexpr bool kConversionsSaturate = false;

  using Int = __m512i;  // 16 x int32, or 8 x int64 where a name says 64
  using Float = __m512;
  using Mask = __mmask16;  // one truth value for each int32
  struct Doubles {
    __m512d low, high;  // lanes 0..7 and 8..15
  };

  // --- memory and constants ---
  static Int Load(const int32_t* p) { return _mm512_loadu_si512(p); }
  static Float Load(const float* p) { return _mm512_loadu_ps(p); }
  static Int Set(int32_t v) { return _mm512_set1_epi32(v); }
  static Int Set64(int64_t v) { return _mm512_set1_epi64(v); }
  static Float Set(float v) { return _mm512_set1_ps(v); }

  // --- int32 ---
  static Int Add(Int a, Int b) { return _mm512_add_epi32(a, b); }
  static Int Sub(Int a, Int b) { return _mm512_sub_epi32(a, b); }
  static Int And(Int a, Int b) { return _mm512_and_si512(a, b); }
  static Int Not(Int a) { return _mm512_xor_si512(a, Set(-1)); }
  static Int Min(Int a, Int b) { return _mm512_min_epi32(a, b); }
  static Int Max(Int a, Int b) { return _mm512_max_epi32(a, b); }
  static Int MinUnsigned(Int a, Int b) { return _mm512_min_epu32(a, b); }
  static Int Abs(Int a) { return _mm512_abs_epi32(a); }  // of INT32_MIN: 2^31 as unsigned
  // `magnitude` with the sign of `sign`; magnitude is 0 where sign is.
  static Int WithSignOf(Int magnitude, Int sign) {
    return _mm512_mask_sub_epi32(magnitude, Negative(sign), _mm512_setzero_si512(), magnitude);
  }
  template <int kBits>
  static Int ShiftLeft(Int a) {
    return _mm512_slli_epi32(a, kBits);
  }
  template <int kBits>
  static Int ShiftRight(Int a) {  // arithmetic
    return _mm512_srai_epi32(a, kBits);
  }
  // By lanes; 32 and more: all bits out.
  static Int ShiftLeft(Int a, Int bits) { return _mm512_sllv_epi32(a, bits); }
  static Int ShiftRight(Int a, Int bits) { return _mm512_srav_epi32(a, bits); }
  static Int ShiftRightUnsigned(Int a, Int bits) { return _mm512_srlv_epi32(a, bits); }

  // --- masks ---
  static Mask Greater(Int a, Int b) { return _mm512_cmpgt_epi32_mask(a, b); }
  static Mask Equal(Int a, Int b) { return _mm512_cmpeq_epi32_mask(a, b); }
  static Mask Negative(Int a) { return _mm512_movepi32_mask(a); }
  static Mask Both(Mask a, Mask b) { return _kand_mask16(a, b); }
  static Int Select(Mask m, Int a, Int b) { return _mm512_mask_mov_epi32(b, m, a); }  // m ? a : b
  static Float Select(Mask m, Float a, Float b) { return _mm512_mask_mov_ps(b, m, a); }
  static Int Keep(Mask m, Int a) { return _mm512_maskz_mov_epi32(m, a); }  // m ? a : 0
  static Int AddWhere(Mask m, Int a, Int b) { return _mm512_mask_add_epi32(a, m, a, b); }
  static Int SubWhere(Mask m, Int a, Int b) { return _mm512_mask_sub_epi32(a, m, a, b); }

  // --- products in 64 bits: of even lanes; odd ones are shifted down for it ---
  static Int OddLanes(Int v) { return _mm512_srli_epi64(v, 32); }
  static Int EvenLanes(Int v) { return And(v, Set64(int64_t{0xffffffff})); }
  static Int MulEven(Int a, Int b) { return _mm512_mul_epi32(a, b); }
  static Int MulEvenUnsigned(Int a, Int b) { return _mm512_mul_epu32(a, b); }
  static Int Add64(Int a, Int b) { return _mm512_add_epi64(a, b); }
  static Int Sub64(Int a, Int b) { return _mm512_sub_epi64(a, b); }
  static Int ShiftLeft64(Int a, Int bits) { return _mm512_sllv_epi64(a, bits); }
  template <int kBits>
  static Int ShiftRightUnsigned64(Int a) {
    return _mm512_srli_epi64(a, kBits);
  }
  template <int kBits>
  static Int ShiftRightUnsigned(Int a) {
    return _mm512_srli_epi32(a, kBits);
  }
  // Bits 32..63 of each even and odd product, in the lanes they came from.
  static Int HighHalves(Int even, Int odd) {
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xB1));
  }

  // --- binary32; to nearest even unless a name says otherwise ---
  static Float Add(Float a, Float b) { return _mm512_add_ps(a, b); }
  static Float Mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Float MulAdd(Float a, Float b, Float c) {
    return _mm512_fmadd_ps(a, b, c);
  }  // one rounding
  static Float Min(Float a, Float b) { return _mm512_min_ps(a, b); }
  static Float Max(Float a, Float b) { return _mm512_max_ps(a, b); }
  static Int Bits(Float v) { return _mm512_castps_si512(v); }
  static Float ToFloat(Int v) { return _mm512_cvtepi32_ps(v); }
  static Int RoundEven(Float v) { return _mm512_cvtps_epi32(v); }
  static Int Truncate(Float v) { return _mm512_cvttps_epi32(v); }
  static Int Floor(Float v) {
    return _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  static Int Ceil(Float v) {
    return _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  }
  // Half away from zero: the greatest float below 1/2 is added, with v's sign, and the sum cut off.
  // (1/2 itself would carry its greatest neighbour below over to 1.)
  static Int RoundAway(Float v) {
    const Float half = Set(0.49999997f), sign = Set(-0.0f);
    return Truncate(Add(v, _mm512_or_ps(_mm512_and_ps(v, sign), half)));
  }
  // The nearest binary16.
  static Float ThroughHalf(Float v) {
    return _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }

  // --- binary64 ---
  // Doubles whose words are the lanes of `lower` and `upper`.
  static Doubles FromWords(Int lower, Int upper) {
    const Int first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const Int second = Add(first, Set(8));
    return {_mm512_castsi512_pd(_mm512_permutex2var_epi32(lower, first, upper)),
            _mm512_castsi512_pd(_mm512_permutex2var_epi32(lower, second, upper))};
  }
  static Doubles ToDoubles(Int v) {
    return {_mm512_cvtepi32_pd(_mm512_castsi512_si256(v)),
            _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(v, 1))};
  }
  static Doubles Mul(const Doubles& a, const Doubles& b) {
    return {_mm512_mul_pd(a.low, b.low), _mm512_mul_pd(a.high, b.high)};
  }
  static Doubles Min(const Doubles& a, double b) {
    return {_mm512_min_pd(a.low, _mm512_set1_pd(b)), _mm512_min_pd(a.high, _mm512_set1_pd(b))};
  }
  static Int RoundAway(const Doubles& v) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(RoundEightAway(v.low)), RoundEightAway(v.high),
                              1);
  }

 private:
  static __m256i RoundEightAway(__m512d v) {
    const __m512d half = _mm512_set1_pd(0.49999999999999994), sign = _mm512_set1_pd(-0.0);
    const __m512d half_by_sign = _mm512_or_pd(_mm512_and_pd(v, sign), half);
    return _mm512_cvttpd_epi32(_mm512_add_pd(v, half_by_sign));
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SIMD_AVX512_H_
