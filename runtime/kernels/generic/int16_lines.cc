#include "runtime/kernels/generic/int16_lines.h"

#include <cstring>

#include "quantize/numerics/int16.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

constexpr int64_t kBlock = 64;

// Two neighbours from each place on, one place after the other.
[[gnu::always_inline]] inline void CopyPairs(const int32_t* tables, const int32_t* at, int64_t n,
                                             int64_t* pairs) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) {
    __asm__("" ::: "memory");  // no gathers
    std::memcpy(&pairs[i], tables + at[i], sizeof pairs[i]);
  }
}

// A register of 32-bit numbers, or of half as many of 64 bits ("wide").
#define RSHIFT_AVX2 [[gnu::target("avx2"), gnu::always_inline]] static inline
struct Avx2LineLanes {
  using V = __m256i;
  static constexpr int64_t kCount = 8;
  RSHIFT_AVX2 V Load(const int32_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  RSHIFT_AVX2 V LoadBytes(const uint8_t* x) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x)));
  }
  RSHIFT_AVX2 void Store(int32_t* y, V v) { _mm256_storeu_si256(reinterpret_cast<V*>(y), v); }
  RSHIFT_AVX2 V All(int32_t x) { return _mm256_set1_epi32(x); }
  RSHIFT_AVX2 V AllWide(int64_t x) { return _mm256_set1_epi64x(x); }
  RSHIFT_AVX2 V Add(V a, V b) { return _mm256_add_epi32(a, b); }
  RSHIFT_AVX2 V Sub(V a, V b) { return _mm256_sub_epi32(a, b); }
  RSHIFT_AVX2 V And(V a, V b) { return _mm256_and_si256(a, b); }
  RSHIFT_AVX2 V Product(V a, V b) { return _mm256_mullo_epi32(a, b); }
  RSHIFT_AVX2 V Right(V a, __m128i by) { return _mm256_srl_epi32(a, by); }
  RSHIFT_AVX2 V LoadWide(const int64_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  RSHIFT_AVX2 V WideLow(V a) { return _mm256_cvtepu32_epi64(_mm256_castsi256_si128(a)); }
  RSHIFT_AVX2 V WideHigh(V a) { return _mm256_cvtepu32_epi64(_mm256_extracti128_si256(a, 1)); }
  RSHIFT_AVX2 V Wide(V a, V b) { return _mm256_mul_epi32(a, b); }  // of the lower halves
  RSHIFT_AVX2 V UpperHalves(V a) { return _mm256_srli_epi64(a, 32); }
  RSHIFT_AVX2 V AddWide(V a, V b) { return _mm256_add_epi64(a, b); }
  RSHIFT_AVX2 V RightWide(V a, __m128i by) { return _mm256_srl_epi64(a, by); }
  RSHIFT_AVX2 V LowerHalves(V a, V b) {
    const __m256 both =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0));
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), _MM_SHUFFLE(3, 1, 2, 0));
  }
  RSHIFT_AVX2 V Hold(V v, V lo, V hi) { return _mm256_min_epi32(_mm256_max_epi32(v, lo), hi); }
};
#undef RSHIFT_AVX2

#define RSHIFT_AVX512 [[gnu::target("avx512f"), gnu::always_inline]] static inline
struct Avx512LineLanes {
  using V = __m512i;
  static constexpr int64_t kCount = 16;
  RSHIFT_AVX512 V Load(const int32_t* x) { return _mm512_loadu_si512(x); }
  RSHIFT_AVX512 V LoadBytes(const uint8_t* x) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  }
  RSHIFT_AVX512 void Store(int32_t* y, V v) { _mm512_storeu_si512(y, v); }
  RSHIFT_AVX512 V All(int32_t x) { return _mm512_set1_epi32(x); }
  RSHIFT_AVX512 V AllWide(int64_t x) { return _mm512_set1_epi64(x); }
  RSHIFT_AVX512 V Add(V a, V b) { return _mm512_add_epi32(a, b); }
  RSHIFT_AVX512 V Sub(V a, V b) { return _mm512_sub_epi32(a, b); }
  RSHIFT_AVX512 V And(V a, V b) { return _mm512_and_si512(a, b); }
  RSHIFT_AVX512 V Product(V a, V b) { return _mm512_mullo_epi32(a, b); }
  RSHIFT_AVX512 V Right(V a, __m128i by) { return _mm512_srl_epi32(a, by); }
  RSHIFT_AVX512 V LoadWide(const int64_t* x) { return _mm512_loadu_si512(x); }
  RSHIFT_AVX512 V WideLow(V a) { return _mm512_cvtepu32_epi64(_mm512_castsi512_si256(a)); }
  RSHIFT_AVX512 V WideHigh(V a) { return _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(a, 1)); }
  RSHIFT_AVX512 V Wide(V a, V b) { return _mm512_mul_epi32(a, b); }
  RSHIFT_AVX512 V UpperHalves(V a) { return _mm512_srli_epi64(a, 32); }
  RSHIFT_AVX512 V AddWide(V a, V b) { return _mm512_add_epi64(a, b); }
  RSHIFT_AVX512 V RightWide(V a, __m128i by) { return _mm512_srl_epi64(a, by); }
  RSHIFT_AVX512 V LowerHalves(V a, V b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)),
                              _mm512_cvtepi64_epi32(b), 1);
  }
  RSHIFT_AVX512 V Hold(V v, V lo, V hi) { return _mm512_min_epi32(_mm512_max_epi32(v, lo), hi); }
};
#undef RSHIFT_AVX512

// A line is within 2^31 2^step_bits and its number, at most 23 bits, the lower half of what a
// logical shift leaves of it.
#define RSHIFT_LINES(name, Lanes, features)                                                        \
  struct name {                                                                                    \
    using L = Lanes;                                                                               \
    using V = L::V;                                                                                \
    V half;                                                                                        \
    __m128i shift;                                                                                 \
    [[gnu::target(features), gnu::always_inline]] V Of(V pairs, V rest, V part) const {            \
      const V line = L::AddWide(L::Wide(pairs, rest), L::Wide(L::UpperHalves(pairs), part));       \
      return L::RightWide(L::AddWide(line, half), shift);                                          \
    }                                                                                              \
    [[gnu::target(features)]] static int64_t Run(const int32_t* tables, const uint8_t* table_of,   \
                                                 int32_t step_bits, const int32_t* v, int64_t n,   \
                                                 const S16Bounds& bounds, int32_t* y) noexcept {   \
      const int32_t bits = step_bits + numerics::kTableFractionBits;                               \
      const name lines = {L::AllWide((int64_t{1} << bits) >> 1), _mm_cvtsi32_si128(bits)};         \
      const __m128i step = _mm_cvtsi32_si128(step_bits);                                           \
      const V lowest = L::All(32768), mask = L::All((1 << step_bits) - 1);                         \
      const V whole = L::All(1 << step_bits),                                                      \
              entries = L::All(numerics::TableSteps(step_bits) + 1);                               \
      const V lo = L::All(bounds.lo - bounds.zero), hi = L::All(bounds.hi - bounds.zero);          \
      const V zero = L::All(bounds.zero);                                                          \
      const int64_t all = n / L::kCount * L::kCount;                                               \
      for (int64_t begin = 0; begin < all; begin += kBlock) {                                      \
        const int64_t end = begin + kBlock < all ? begin + kBlock : all;                           \
        alignas(64) int32_t at[kBlock];                                                            \
        alignas(64) int64_t pairs[kBlock];                                                         \
        for (int64_t i = begin; i < end; i += L::kCount) {                                         \
          V first = L::Right(L::Add(L::Load(v + i), lowest), step);                                \
          if (table_of != nullptr)                                                                 \
            first = L::Add(first, L::Product(entries, L::LoadBytes(table_of + i)));                \
          L::Store(at + (i - begin), first);                                                       \
        }                                                                                          \
        CopyPairs(tables, at, end - begin, pairs);                                                 \
        for (int64_t i = begin; i < end; i += L::kCount) {                                         \
          const V part = L::And(L::Add(L::Load(v + i), lowest), mask), rest = L::Sub(whole, part); \
          const int64_t* of = pairs + (i - begin);                                                 \
          const V low = lines.Of(L::LoadWide(of), L::WideLow(rest), L::WideLow(part));             \
          const V high =                                                                           \
              lines.Of(L::LoadWide(of + L::kCount / 2), L::WideHigh(rest), L::WideHigh(part));     \
          L::Store(y + i, L::Add(L::Hold(L::LowerHalves(low, high), lo, hi), zero));               \
        }                                                                                          \
      }                                                                                            \
      return all;                                                                                  \
    }                                                                                              \
  }

RSHIFT_LINES(Avx2Lines, Avx2LineLanes, "avx2");
RSHIFT_LINES(Avx512Lines, Avx512LineLanes, "avx512f");

}  // namespace

int64_t LinesAvx2(const int32_t* tables, const uint8_t* table_of, int32_t step_bits,
                  const int32_t* v, int64_t n, const S16Bounds& bounds, int32_t* y) noexcept {
  return Avx2Lines::Run(tables, table_of, step_bits, v, n, bounds, y);
}

int64_t LinesAvx512(const int32_t* tables, const uint8_t* table_of, int32_t step_bits,
                    const int32_t* v, int64_t n, const S16Bounds& bounds, int32_t* y) noexcept {
  return Avx512Lines::Run(tables, table_of, step_bits, v, n, bounds, y);
}

}  // namespace rshift
#endif
