// What the requantizers of simd/requant.h give -> bytes, 64 channels at a time.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"
#include "runtime/kernels/simd/avx512.h"
#include "runtime/kernels/simd/requant_integer.h"

namespace rshift {
namespace {

// The lower words of two registers of s32, in the order of _mm512_packs_epi32.
alignas(64) constexpr uint16_t kLowerWords[32] = {0,  2,  4,  6,  32, 34, 36, 38, 8,  10, 12,
                                                  14, 40, 42, 44, 46, 16, 18, 20, 22, 48, 50,
                                                  52, 54, 24, 26, 28, 30, 56, 58, 60, 62};

// What puts the double words of two packings in order.
alignas(64) constexpr int32_t kOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

// 64 values of requantizer S at a time -> bytes in order: saturates to s16, adds zero_y, saturates
// to s8 and clamps there; what PackBias took off u8 values comes back by the XOR at the end.
template <typename S>
struct SaturatingPack {
  __m512i zero, lo, hi, flip, order, words;

  static SaturatingPack Load(const RequantArgs& q) {
    const int32_t bias = PackBias(q), zero = S::kAddsZero ? 0 : q.zero_y;
    const auto all = [](int32_t v) { return _mm512_set1_epi8(static_cast<char>(v)); };
    return {_mm512_set1_epi16(static_cast<int16_t>(zero - bias)),
            all(q.lo - bias),
            all(q.hi - bias),
            all(bias),
            _mm512_load_si512(kOrder),
            _mm512_load_si512(kLowerWords)};
  }
  // Two registers of s32, saturated to s16 by lanes.
  __m512i Words(__m512i v0, __m512i v1) const {
    if constexpr (S::kLow16Valid) return _mm512_permutex2var_epi16(v0, words, v1);
    return _mm512_packs_epi32(v0, v1);
  }
  // What S::Scale gave for channels 0..15, 16..31, 32..47 and 48..63.
  __m512i Pack(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return _mm512_permutexvar_epi32(order, PackLanes(v0, v1, v2, v3));
  }
  // Where v0 holds channels 16 l .. 16 l + 3 in its lane l, v1 the next four, and so on.
  __m512i PackLanes(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return PackWords(Words(v0, v1), Words(v2, v3));
  }
  // From values saturated to s16, by lanes as _mm512_packs_epi32 leaves them.
  __m512i PackWords(__m512i low, __m512i high) const {
    if constexpr (!S::kBiased) {
      low = _mm512_adds_epi16(low, zero);
      high = _mm512_adds_epi16(high, zero);
    }
    const __m512i bytes = _mm512_packs_epi16(low, high);
    return _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(bytes, lo), hi), flip);
  }
};

// No clamp: packing is all that is left to do.
template <bool kUnsigned>
struct SaturatingPack<ByRatioUnclamped<Avx512, kUnsigned>> {
  __m512i order, words;

  static SaturatingPack Load(const RequantArgs&) {
    return {_mm512_load_si512(kOrder), _mm512_load_si512(kLowerWords)};
  }
  __m512i Words(__m512i v0, __m512i v1) const { return _mm512_permutex2var_epi16(v0, words, v1); }
  __m512i Pack(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return _mm512_permutexvar_epi32(order, PackLanes(v0, v1, v2, v3));
  }
  __m512i PackLanes(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return PackWords(Words(v0, v1), Words(v2, v3));
  }
  __m512i PackWords(__m512i low, __m512i high) const {
    return kUnsigned ? _mm512_packus_epi16(low, high) : _mm512_packs_epi16(low, high);
  }
};

// RequantizeFn.
inline void RequantizeAll(const RequantArgs& q, const int32_t* acc, int64_t count,
                          uint8_t* dst) noexcept {
  WithRequantizer<Avx512>(q, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    const S requantizer = S::Load(q, 0);
    const SaturatingPack<S> pack = SaturatingPack<S>::Load(q);
    for (int64_t i = 0; i < count; i += 64) {
      const auto v = [&](int64_t at) {
        return requantizer.Scale(_mm512_loadu_si512(acc + i + at));
      };
      const __m512i bytes = pack.Pack(v(0), v(16), v(32), v(48));
      const int64_t left = count - i;
      const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
      _mm512_mask_storeu_epi8(dst + i, mask, bytes);
    }
  });
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_H_
