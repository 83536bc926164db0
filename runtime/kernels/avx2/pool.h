// Pooling windows, 32 or 8 channels at a time.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_POOL_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_POOL_H_

#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

void MaxPool(const PoolWindow& w, int64_t count, bool is_signed, uint8_t* dst) noexcept {
  for (int64_t c = 0; c < count; c += 32) {
    __m256i best = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w.base + c));
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tap));
        best = is_signed ? _mm256_max_epi8(best, value) : _mm256_max_epu8(best, value);
      }
    }
    if (count - c >= 32)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + c), best);
    else
      std::memcpy(dst + c, &best, static_cast<size_t>(count - c));
  }
}

void SumPool(const PoolWindow& w, int64_t count, bool is_signed, int32_t* sum) noexcept {
  for (int64_t c = 0; c < count; c += 8) {
    __m256i total = _mm256_setzero_si256();
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        const __m128i value = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(tap));
        total = _mm256_add_epi32(
            total, is_signed ? _mm256_cvtepi8_epi32(value) : _mm256_cvtepu8_epi32(value));
      }
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum + c), total);
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_POOL_H_
