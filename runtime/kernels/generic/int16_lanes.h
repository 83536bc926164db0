// Registers of 32-bit numbers in units for any x86-64: what loops of 16-bit commands that are
// written by hand share.
#ifndef RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_LANES_H_
#define RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_LANES_H_

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

namespace rshift {

// One register of 32-bit numbers, or of half as many of 64 bits ("wide"). Products of the even ones
// and of the odd ones have 64 bits.
#define RSHIFT_AVX2 [[gnu::target("avx2"), gnu::always_inline]] static inline
struct Avx2Lanes {
  using V = __m256i;
  static constexpr int64_t kCount = 8;
  RSHIFT_AVX2 V Load(const int32_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  RSHIFT_AVX2 void Store(int32_t* y, V v) { _mm256_storeu_si256(reinterpret_cast<V*>(y), v); }
  RSHIFT_AVX2 V All(int32_t x) { return _mm256_set1_epi32(x); }
  RSHIFT_AVX2 V AllWide(int64_t x) { return _mm256_set1_epi64x(x); }
  RSHIFT_AVX2 V Even(V a, V b) { return _mm256_mul_epi32(a, b); }
  RSHIFT_AVX2 V OddToEven(V a) { return _mm256_srli_epi64(a, 32); }
  RSHIFT_AVX2 V Product(V a, V b) { return _mm256_mullo_epi32(a, b); }
  RSHIFT_AVX2 V AddWide(V a, V b) { return _mm256_add_epi64(a, b); }
  RSHIFT_AVX2 V Add(V a, V b) { return _mm256_add_epi32(a, b); }
  RSHIFT_AVX2 V RightWide(V a, __m128i by) { return _mm256_srl_epi64(a, by); }
  RSHIFT_AVX2 V LeftWide(V a, __m128i by) { return _mm256_sll_epi64(a, by); }
  RSHIFT_AVX2 V Right(V a, __m128i by) { return _mm256_sra_epi32(a, by); }
  RSHIFT_AVX2 V EvenAndOdd(V even, V odd) { return _mm256_blend_epi32(even, odd, 0xaa); }
  RSHIFT_AVX2 V LoadBytes(const uint8_t* x) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x)));
  }
  RSHIFT_AVX2 V Sub(V a, V b) { return _mm256_sub_epi32(a, b); }
  RSHIFT_AVX2 V And(V a, V b) { return _mm256_and_si256(a, b); }
  RSHIFT_AVX2 V RightLogical(V a, __m128i by) { return _mm256_srl_epi32(a, by); }
  RSHIFT_AVX2 V LoadWide(const int64_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  RSHIFT_AVX2 V WideLow(V a) { return _mm256_cvtepu32_epi64(_mm256_castsi256_si128(a)); }
  RSHIFT_AVX2 V WideHigh(V a) { return _mm256_cvtepu32_epi64(_mm256_extracti128_si256(a, 1)); }
  RSHIFT_AVX2 V LowerHalves(V a, V b) {
    const __m256 both =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0));
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), _MM_SHUFFLE(3, 1, 2, 0));
  }
  RSHIFT_AVX2 V Hold(V v, V lo, V hi) { return _mm256_min_epi32(_mm256_max_epi32(v, lo), hi); }
};
#undef RSHIFT_AVX2

#define RSHIFT_AVX512 [[gnu::target("avx512f"), gnu::always_inline]] static inline
struct Avx512Lanes {
  using V = __m512i;
  static constexpr int64_t kCount = 16;
  RSHIFT_AVX512 V Load(const int32_t* x) { return _mm512_loadu_si512(x); }
  RSHIFT_AVX512 void Store(int32_t* y, V v) { _mm512_storeu_si512(y, v); }
  RSHIFT_AVX512 V All(int32_t x) { return _mm512_set1_epi32(x); }
  RSHIFT_AVX512 V AllWide(int64_t x) { return _mm512_set1_epi64(x); }
  RSHIFT_AVX512 V Even(V a, V b) { return _mm512_mul_epi32(a, b); }
  RSHIFT_AVX512 V OddToEven(V a) { return _mm512_srli_epi64(a, 32); }
  RSHIFT_AVX512 V Product(V a, V b) { return _mm512_mullo_epi32(a, b); }
  RSHIFT_AVX512 V AddWide(V a, V b) { return _mm512_add_epi64(a, b); }
  RSHIFT_AVX512 V Add(V a, V b) { return _mm512_add_epi32(a, b); }
  RSHIFT_AVX512 V RightWide(V a, __m128i by) { return _mm512_srl_epi64(a, by); }
  RSHIFT_AVX512 V LeftWide(V a, __m128i by) { return _mm512_sll_epi64(a, by); }
  RSHIFT_AVX512 V Right(V a, __m128i by) { return _mm512_sra_epi32(a, by); }
  RSHIFT_AVX512 V EvenAndOdd(V even, V odd) { return _mm512_mask_blend_epi32(0xaaaa, even, odd); }
  RSHIFT_AVX512 V LoadBytes(const uint8_t* x) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  }
  RSHIFT_AVX512 V Sub(V a, V b) { return _mm512_sub_epi32(a, b); }
  RSHIFT_AVX512 V And(V a, V b) { return _mm512_and_si512(a, b); }
  RSHIFT_AVX512 V RightLogical(V a, __m128i by) { return _mm512_srl_epi32(a, by); }
  RSHIFT_AVX512 V LoadWide(const int64_t* x) { return _mm512_loadu_si512(x); }
  RSHIFT_AVX512 V WideLow(V a) { return _mm512_cvtepu32_epi64(_mm512_castsi512_si256(a)); }
  RSHIFT_AVX512 V WideHigh(V a) { return _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(a, 1)); }
  RSHIFT_AVX512 V LowerHalves(V a, V b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)),
                              _mm512_cvtepi64_epi32(b), 1);
  }
  RSHIFT_AVX512 V Hold(V v, V lo, V hi) { return _mm512_min_epi32(_mm512_max_epi32(v, lo), hi); }
};
#undef RSHIFT_AVX512

}  // namespace rshift
#endif

#endif  // RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_LANES_H_
