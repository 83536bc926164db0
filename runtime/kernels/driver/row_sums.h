// Sums of bytes in a row, for weight zero points.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_ROW_SUMS_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_ROW_SUMS_H_

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace rshift {
namespace {

#if defined(__x86_64__)
// Sum of n bytes as u8: 16 at a time, nothing read past the end.
inline int64_t SumBytes(const uint8_t* x, int64_t n) {
  int64_t i = 0;
  __m128i total = _mm_setzero_si128();
  for (; i + 16 <= n; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    total = _mm_add_epi64(total, _mm_sad_epu8(bytes, _mm_setzero_si128()));
  }
  int64_t sum = _mm_cvtsi128_si64(total) + _mm_cvtsi128_si64(_mm_srli_si128(total, 8));
  for (; i < n; ++i) sum += x[i];
  return sum;
}

// Sum of n bytes as s8: x XOR 0x80 is x + 128.
inline int64_t SumSignedBytes(const uint8_t* x, int64_t n) {
  int64_t i = 0;
  __m128i total = _mm_setzero_si128();
  const __m128i flip = _mm_set1_epi8(static_cast<char>(0x80));
  for (; i + 16 <= n; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    total = _mm_add_epi64(total, _mm_sad_epu8(_mm_xor_si128(bytes, flip), _mm_setzero_si128()));
  }
  int64_t sum = _mm_cvtsi128_si64(total) + _mm_cvtsi128_si64(_mm_srli_si128(total, 8)) - 128 * i;
  for (; i < n; ++i) sum += static_cast<int8_t>(x[i]);
  return sum;
}
#elif defined(__aarch64__)
inline int64_t SumBytes(const uint8_t* x, int64_t n) {
  int64_t i = 0, sum = 0;
  for (; i + 16 <= n; i += 16) sum += vaddlvq_u8(vld1q_u8(x + i));
  for (; i < n; ++i) sum += x[i];
  return sum;
}

inline int64_t SumSignedBytes(const uint8_t* x, int64_t n) {
  int64_t i = 0, sum = 0;
  for (; i + 16 <= n; i += 16) sum += vaddlvq_s8(vreinterpretq_s8_u8(vld1q_u8(x + i)));
  for (; i < n; ++i) sum += static_cast<int8_t>(x[i]);
  return sum;
}
#endif

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_ROW_SUMS_H_
