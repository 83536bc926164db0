// Convolution of 16-bit integers: 6 pixels x 16 channels by vpmaddwd, whose sum of two products of
// s16 is exact but for (-2^15)^2 * 2, which no s8 weight makes.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_CONV_S16_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_CONV_S16_H_

#include <immintrin.h>

#include "runtime/kernels/driver/conv_s16.h"

namespace rshift {
namespace {

struct S16Madd {
  using Vector = __m256i;
  static constexpr int kLanes = 8, kVectors = 2, kPixels = 6;
  using Narrow = S16Madd;
  static Vector Zero() { return _mm256_setzero_si256(); }
  static Vector Load(const int16_t* w) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
  }
  static Vector Broadcast(int32_t pair) { return _mm256_set1_epi32(pair); }
  static void DotAccumulate(Vector& acc, Vector a, Vector b) {
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(a, b));
  }
  static void Store(int32_t* sums, Vector acc) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), acc);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_CONV_S16_H_
