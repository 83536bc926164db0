// Depthwise convolution, 16 channels, two taps at a time: shared by the AVX2 and AVX-VNNI units.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_DEPTHWISE_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_DEPTHWISE_H_

#include <immintrin.h>

#include "runtime/kernels/avx2/finish.h"
#include "runtime/kernels/driver/depthwise.h"

namespace rshift {
namespace {

struct DepthwiseUnit {
  static constexpr int kDwChannels = kColumn;
  struct Pair {
    __m256i lo, hi;  // channels {0-3, 8-11} and {4-7, 12-15}
  };
  static Pair Zero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }

  static __m256i Widen(const void* bytes, bool is_signed) {
    const __m128i x = _mm_loadu_si128(static_cast<const __m128i*>(bytes));
    return is_signed ? _mm256_cvtepi8_epi16(x) : _mm256_cvtepu8_epi16(x);
  }
  static __m256i Load(const int16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void InterleaveWeights(const int8_t* w0, const int8_t* w1, const int16_t* zero_w,
                                int16_t* out) {
    const __m256i zero = zero_w == nullptr ? _mm256_setzero_si256() : Load(zero_w);
    const __m256i a = _mm256_sub_epi16(Widen(w0, true), zero);
    const __m256i b =
        w1 == nullptr ? _mm256_setzero_si256() : _mm256_sub_epi16(Widen(w1, true), zero);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_unpacklo_epi16(a, b));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16), _mm256_unpackhi_epi16(a, b));
  }
  static void AddPair(Pair& acc, const uint8_t* x0, const uint8_t* x1, const int16_t* weights,
                      bool is_signed) {
    const __m256i a = Widen(x0, is_signed), b = Widen(x1, is_signed);
    acc.lo =
        _mm256_add_epi32(acc.lo, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), Load(weights)));
    acc.hi = _mm256_add_epi32(acc.hi,
                              _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), Load(weights + 16)));
  }
  static void StoreSums(const Pair& acc, const int32_t* bias, int32_t* row) {
    const __m256i first = _mm256_permute2x128_si256(acc.lo, acc.hi, 0x20);
    const __m256i second = _mm256_permute2x128_si256(acc.lo, acc.hi, 0x31);
    StoreEight(row, _mm256_add_epi32(first, LoadEight(bias)));
    StoreEight(row + 8, _mm256_add_epi32(second, LoadEight(bias + 8)));
  }
  static void Finish(const RequantArgs& q, int64_t entry, const int32_t (*rows)[kDwChannels],
                     int64_t pixels, uint8_t* dst, int64_t dst_stride, int64_t count) {
    FinishColumn(q, {entry, rows, pixels, dst, dst_stride, count});
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_DEPTHWISE_H_
