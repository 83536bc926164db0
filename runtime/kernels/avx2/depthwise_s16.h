// Depthwise convolution of 16-bit integers: 4 pixels x 16 channels by vpmaddwd, which is exact
// (conv_s16.h).
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_DEPTHWISE_S16_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_DEPTHWISE_S16_H_

#include <immintrin.h>

#include "runtime/kernels/driver/depthwise_s16.h"

namespace rshift {
namespace {

struct DepthwiseS16Madd {
  using Vector = __m256i;
  static constexpr int kChannels = 16, kPixels = 4;
  static Vector Zero() { return _mm256_setzero_si256(); }
  static Vector Load(const int16_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  static Vector LowPairs(Vector a, Vector b) { return _mm256_unpacklo_epi16(a, b); }
  static Vector HighPairs(Vector a, Vector b) { return _mm256_unpackhi_epi16(a, b); }
  // Channels 0..3, 8..11 and the others; the same exchange brings them back.
  static void Deal(Vector& low, Vector& high) {
    const Vector first = _mm256_permute2x128_si256(low, high, 0x20);
    high = _mm256_permute2x128_si256(low, high, 0x31);
    low = first;
  }
  static void Gather(Vector& low, Vector& high) { Deal(low, high); }
  static void DotAccumulate(Vector& acc, Vector pairs, Vector w) {
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, w));
  }
  static void Store(int32_t* sums, Vector acc) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), acc);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_DEPTHWISE_S16_H_
