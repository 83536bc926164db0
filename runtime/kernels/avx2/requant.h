// What the requantizers of simd/requant.h give -> bytes, 16 channels at a time.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"
#include "runtime/kernels/simd/avx2.h"
#include "runtime/kernels/simd/requant_integer.h"

namespace rshift {
namespace {

inline __m256i LoadEight(const int32_t* p) { return Avx2::Load(p); }

// 16 values of requantizer S at a time -> bytes in order. Saturates to s16, adds and clamps there,
// and packs as s8; what PackBias took off u8 values comes back by the XOR at the end.
template <typename S>
struct SaturatingPack {
  __m256i zero, lo, hi;
  __m128i flip;

  static SaturatingPack Load(const RequantArgs& q) {
    const int32_t bias = PackBias(q), zero = S::kAddsZero ? 0 : q.zero_y;
    const auto all = [](int32_t v) { return _mm256_set1_epi16(static_cast<int16_t>(v)); };
    return {all(zero - bias), all(q.lo - bias), all(q.hi - bias),
            _mm_set1_epi8(static_cast<char>(bias))};
  }
  // What S::Scale gave for channels 0..7 and 8..15.
  __m128i Pack(__m256i v0, __m256i v1) const {
    __m256i v = _mm256_packs_epi32(v0, v1);
    if constexpr (!S::kBiased) v = _mm256_adds_epi16(v, zero);
    const __m256i y = _mm256_min_epi16(_mm256_max_epi16(v, lo), hi);
    // Channels {0-3, 8-11} and {4-7, 12-15}.
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
    return _mm_shuffle_epi32(_mm_xor_si128(bytes, flip), 0xd8);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_H_
