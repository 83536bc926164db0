// Depthwise convolution of 16-bit integers: 12 pixels x 32 channels by vpdpwssd.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_S16_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_S16_H_

#include <immintrin.h>

#include "runtime/kernels/driver/depthwise_s16.h"

namespace rshift {
namespace {

struct DepthwiseS16Vnni {
  using Vector = __m512i;
  static constexpr int kChannels = 32, kPixels = 12;
  static Vector Zero() { return _mm512_setzero_si512(); }
  static Vector Load(const int16_t* x) { return _mm512_loadu_si512(x); }
  static Vector LowPairs(Vector a, Vector b) { return _mm512_unpacklo_epi16(a, b); }
  static Vector HighPairs(Vector a, Vector b) { return _mm512_unpackhi_epi16(a, b); }
  // Fours of channels: the even ones and the odd ones.
  static void Deal(Vector& low, Vector& high) {
    const Vector even =
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), high);
    high = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15), high);
    low = even;
  }
  static void Gather(Vector& low, Vector& high) {
    const Vector first =
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high);
    high = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high);
    low = first;
  }
  static void DotAccumulate(Vector& acc, Vector pairs, Vector w) {
    acc = _mm512_dpwssd_epi32(acc, pairs, w);
  }
  static void Store(int32_t* sums, Vector acc) { _mm512_storeu_si512(sums, acc); }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_S16_H_
