#include "runtime/kernels/generic/int16_quotients.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

// One register of 32-bit numbers. Products of the even ones and of the odd ones have 64 bits.
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
  RSHIFT_AVX512 V Hold(V v, V lo, V hi) { return _mm512_min_epi32(_mm512_max_epi32(v, lo), hi); }
};
#undef RSHIFT_AVX512

// floor(v / 2^rshift) of 64 bits, the lower 32 of which count: a logical shift by at most 32, then
// an arithmetic one of 32 bits.
#define RSHIFT_QUOTIENTS(Lanes, features)                                                          \
  struct Lanes##Quotient {                                                                         \
    using V = Lanes::V;                                                                            \
    V half, zero, lo, hi;                                                                          \
    __m128i first, rest, left;                                                                     \
    [[gnu::target(features),                                                                       \
      gnu::always_inline]] inline explicit Lanes##Quotient(const S16Quotient& by)                  \
        : half(Lanes::AllWide((int64_t{1} << by.rshift) >> 1)),                                    \
          zero(Lanes::All(by.bounds.zero)),                                                        \
          lo(Lanes::All(by.bounds.lo - by.bounds.zero)),                                           \
          hi(Lanes::All(by.bounds.hi - by.bounds.zero)),                                           \
          first(_mm_cvtsi32_si128(by.rshift < 32 ? by.rshift : 32)),                               \
          rest(_mm_cvtsi32_si128(by.rshift < 32 ? 0 : by.rshift - 32)),                            \
          left(_mm_cvtsi32_si128(by.rshift < 32 ? 32 - by.rshift : 0)) {}                          \
    [[gnu::target(features), gnu::always_inline]] inline V operator()(V even, V odd) const {       \
      const V low = Lanes::RightWide(Lanes::AddWide(even, half), first);                           \
      const V high = Lanes::LeftWide(Lanes::AddWide(odd, half), left);                             \
      const V quotient = Lanes::Right(Lanes::EvenAndOdd(low, high), rest);                         \
      return Lanes::Add(Lanes::Hold(quotient, lo, hi), zero);                                      \
    }                                                                                              \
  };                                                                                               \
  [[gnu::target(features)]] int64_t Lanes##Sums(const int32_t* a, const int32_t* b, int64_t n,     \
                                                int32_t multiplier_a, int32_t multiplier_b,        \
                                                const S16Quotient& by, int32_t* y) noexcept {      \
    using V = Lanes::V;                                                                            \
    const Lanes##Quotient quotient(by);                                                            \
    const V m = Lanes::All(multiplier_a), m_b = Lanes::All(multiplier_b);                          \
    int64_t i = 0;                                                                                 \
    for (; i + Lanes::kCount <= n; i += Lanes::kCount) {                                           \
      const V v = Lanes::Load(a + i), w = Lanes::Load(b + i);                                      \
      const V even = Lanes::AddWide(Lanes::Even(v, m), Lanes::Even(w, m_b));                       \
      const V odd = Lanes::AddWide(Lanes::Even(Lanes::OddToEven(v), m),                            \
                                   Lanes::Even(Lanes::OddToEven(w), m_b));                         \
      Lanes::Store(y + i, quotient(even, odd));                                                    \
    }                                                                                              \
    return i;                                                                                      \
  }                                                                                                \
  [[gnu::target(features)]] int64_t Lanes##Products(const int32_t* a, const int32_t* b, int64_t n, \
                                                    int32_t multiplier, const S16Quotient& by,     \
                                                    int32_t* y) noexcept {                         \
    using V = Lanes::V;                                                                            \
    const Lanes##Quotient quotient(by);                                                            \
    const V m = Lanes::All(multiplier);                                                            \
    int64_t i = 0;                                                                                 \
    for (; i + Lanes::kCount <= n; i += Lanes::kCount) {                                           \
      V v = Lanes::Load(a + i);                                                                    \
      if (b != nullptr) v = Lanes::Product(v, Lanes::Load(b + i));                                 \
      const V even = Lanes::Even(v, m), odd = Lanes::Even(Lanes::OddToEven(v), m);                 \
      Lanes::Store(y + i, quotient(even, odd));                                                    \
    }                                                                                              \
    return i;                                                                                      \
  }
RSHIFT_QUOTIENTS(Avx2Lanes, "avx2")
RSHIFT_QUOTIENTS(Avx512Lanes, "avx512f")
#undef RSHIFT_QUOTIENTS

}  // namespace

int64_t SumQuotientsAvx2(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier_a,
                         int32_t multiplier_b, const S16Quotient& by, int32_t* y) noexcept {
  return Avx2LanesSums(a, b, n, multiplier_a, multiplier_b, by, y);
}
int64_t SumQuotientsAvx512(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier_a,
                           int32_t multiplier_b, const S16Quotient& by, int32_t* y) noexcept {
  return Avx512LanesSums(a, b, n, multiplier_a, multiplier_b, by, y);
}
int64_t ProductQuotientsAvx2(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier,
                             const S16Quotient& by, int32_t* y) noexcept {
  return Avx2LanesProducts(a, b, n, multiplier, by, y);
}
int64_t ProductQuotientsAvx512(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier,
                               const S16Quotient& by, int32_t* y) noexcept {
  return Avx512LanesProducts(a, b, n, multiplier, by, y);
}

}  // namespace rshift
#endif
