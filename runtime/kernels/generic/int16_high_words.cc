#include "runtime/kernels/generic/int16_high_words.h"

#include "runtime/kernels/generic/targets.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>

// vpmuldq multiplies the even ones of its lanes; odd channels are moved there. The high halves of
// both lie in neighbouring words, which are results. They are saturated to 16 bits, where they are
// held to their bounds: these are of 16 bits or fewer.
namespace rshift {
namespace {

#define RSHIFT_AVX2 [[gnu::target("avx2")]]

// Eight channels.
struct EightAvx2 {
  __m256i multiplier, odd_multiplier, even, odd, rshift;
  RSHIFT_AVX2 static __m256i Load(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  RSHIFT_AVX2 EightAvx2(const S16HighWords& words, int64_t channel)
      : multiplier(Load(words.multiplier + channel)),
        odd_multiplier(_mm256_srli_epi64(multiplier, 32)),
        even(Load(words.even + channel / 2)),
        odd(Load(words.odd + channel / 2)),
        rshift(Load(words.rshift + channel)) {}
  RSHIFT_AVX2 __m256i operator()(const int32_t* sums) const {
    const __m256i sum = Load(sums);
    const __m256i low = _mm256_add_epi64(_mm256_mul_epi32(sum, multiplier), even);
    const __m256i high =
        _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(sum, 32), odd_multiplier), odd);
    const __m256i both = _mm256_blend_epi32(_mm256_srli_epi64(low, 32), high, 0xaa);
    return _mm256_srav_epi32(both, rshift);
  }
};

// Sixteen channels.
struct SixteenAvx512 {
  __m512i multiplier, odd_multiplier, even, odd, rshift;
  RSHIFT_TARGET_AVX512 SixteenAvx512(const S16HighWords& words, int64_t channel)
      : multiplier(_mm512_loadu_si512(words.multiplier + channel)),
        odd_multiplier(_mm512_srli_epi64(multiplier, 32)),
        even(_mm512_loadu_si512(words.even + channel / 2)),
        odd(_mm512_loadu_si512(words.odd + channel / 2)),
        rshift(_mm512_loadu_si512(words.rshift + channel)) {}
  RSHIFT_TARGET_AVX512 __m512i operator()(const int32_t* sums) const {
    const __m512i sum = _mm512_loadu_si512(sums);
    const __m512i low = _mm512_add_epi64(_mm512_mul_epi32(sum, multiplier), even);
    const __m512i high =
        _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(sum, 32), odd_multiplier), odd);
    const __m512i both = _mm512_mask_shuffle_epi32(high, 0x5555, low, _MM_PERM_DDBB);
    return _mm512_srav_epi32(both, rshift);
  }
};

}  // namespace

RSHIFT_AVX2 void FinishHighWordsAvx2(const S16Tile& tile, const S16HighWords& words,
                                     const S16Bounds& bounds) noexcept {
  const S16Tile t = tile;  // what is written may alias it as far as the compiler knows
  const __m256i lo = _mm256_set1_epi16(static_cast<int16_t>(bounds.lo - bounds.zero));
  const __m256i hi = _mm256_set1_epi16(static_cast<int16_t>(bounds.hi - bounds.zero));
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(bounds.zero));
  const int64_t size = t.type == NarrowType::kS16 ? 2 : 1;
  for (int64_t i = 0; i < t.count; i += 16) {
    const EightAvx2 first(words, i), second(words, i + 8);
    const int64_t count = std::min<int64_t>(t.count - i, 16);
    for (int64_t p = 0; p < t.pixels; ++p) {
      const int32_t* sums = t.sums + p * t.step + i;
      uint8_t* y = t.dst + p * t.pitch + i * size;
      const __m256i packed = _mm256_packs_epi32(first(sums), second(sums + 8));
      const __m256i wide = _mm256_permute4x64_epi64(packed, 0xd8);
      const __m256i held = _mm256_add_epi16(_mm256_min_epi16(_mm256_max_epi16(wide, lo), hi), zero);
      if (size == 2 && count == 16) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), held);
        continue;
      }
      alignas(32) int16_t v[16];
      _mm256_store_si256(reinterpret_cast<__m256i*>(v), held);
      for (int64_t k = 0; k < count; ++k) {
        if (size == 2) {
          reinterpret_cast<int16_t*>(y)[k] = v[k];
        } else {
          y[k] = static_cast<uint8_t>(v[k]);
        }
      }
    }
  }
}

namespace {

// Two vectors of 16 numbers to one of 32, held to the bounds. kHeld: these are others than those of
// 16 bits.
template <bool kHeld>
struct NarrowAvx512 {
  __m512i order, lo, hi;
  RSHIFT_TARGET_AVX512 explicit NarrowAvx512(const S16Bounds& bounds)
      : order(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7)),
        lo(_mm512_set1_epi16(static_cast<int16_t>(bounds.lo - bounds.zero))),
        hi(_mm512_set1_epi16(static_cast<int16_t>(bounds.hi - bounds.zero))) {}
  RSHIFT_TARGET_AVX512 __m512i operator()(__m512i first, __m512i second) const {
    const __m512i wide = _mm512_permutexvar_epi64(order, _mm512_packs_epi32(first, second));
    return kHeld ? _mm512_min_epi16(_mm512_max_epi16(wide, lo), hi) : wide;
  }
};

template <bool kHeld>
RSHIFT_TARGET_AVX512 void FinishAvx512(const S16Tile& tile, const S16HighWords& words,
                                       const S16Bounds& bounds) noexcept {
  const S16Tile t = tile;  // what is written may alias it as far as the compiler knows
  const NarrowAvx512<kHeld> narrow(bounds);
  const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(bounds.zero));
  const int64_t size = t.type == NarrowType::kS16 ? 2 : 1;
  for (int64_t i = 0; i < t.count; i += 32) {
    const int64_t left = t.count - i;
    const bool both = left > 16;
    const SixteenAvx512 first(words, i), second(words, both ? i + 16 : i);
    const auto mask = static_cast<__mmask32>(left >= 32 ? ~0u : (1u << left) - 1);
    for (int64_t p = 0; p < t.pixels; ++p) {
      const int32_t* sums = t.sums + p * t.step + i;
      uint8_t* y = t.dst + p * t.pitch + i * size;
      const __m512i y0 = first(sums);
      const __m512i held = narrow(y0, both ? second(sums + 16) : y0);
      if (size == 1) {
        const __m512i bytes = _mm512_add_epi16(held, zero);
        _mm256_mask_storeu_epi8(y, mask, _mm512_cvtepi16_epi8(bytes));
      } else if (left >= 32) {
        _mm512_storeu_si512(y, held);
      } else {
        _mm512_mask_storeu_epi16(y, mask, held);
      }
    }
  }
}

}  // namespace

void FinishHighWordsAvx512(const S16Tile& tile, const S16HighWords& words,
                           const S16Bounds& bounds) noexcept {
  const bool held = bounds.lo - bounds.zero > INT16_MIN || bounds.hi - bounds.zero < INT16_MAX;
  return held ? FinishAvx512<true>(tile, words, bounds) : FinishAvx512<false>(tile, words, bounds);
}

}  // namespace rshift

#endif
