// Convolution of 16-bit integers: 6 pixels x 64 channels, 12 x 32 or 12 x 16, by vpdpwssd, the sum
// of two products of s16 added to s32 without saturation.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_CONV_S16_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_CONV_S16_H_

#include <immintrin.h>

#include "runtime/kernels/driver/conv_s16.h"

namespace rshift {
namespace {

struct S16VnniBase {
  using Vector = __m512i;
  static constexpr int kLanes = 16;
  static Vector Zero() { return _mm512_setzero_si512(); }
  static Vector Load(const int16_t* w) { return _mm512_loadu_si512(w); }
  static Vector Broadcast(int32_t pair) { return _mm512_set1_epi32(pair); }
  static void DotAccumulate(Vector& acc, Vector a, Vector b) {
    acc = _mm512_dpwssd_epi32(acc, a, b);
    asm("" : "+v"(acc));  // conv.h, DotAccumulate, says why
  }
  static void Store(int32_t* sums, Vector acc) { _mm512_storeu_si512(sums, acc); }
};
struct S16VnniSingle : S16VnniBase {
  static constexpr int kVectors = 1, kPixels = 12;
  using Narrow = S16VnniSingle;
};
struct S16VnniNarrow : S16VnniBase {
  static constexpr int kVectors = 2, kPixels = 12;
  using Narrow = S16VnniSingle;
};
struct S16Vnni : S16VnniBase {
  static constexpr int kVectors = 4, kPixels = 6;
  using Narrow = S16VnniNarrow;
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_CONV_S16_H_
