// Pooling windows, 64 channels at a time.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_POOL_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_POOL_H_

#include <immintrin.h>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

// The most common window without loops: 3 x 3 inside the image, kTaps 3; 0: any.
template <bool kSigned, int kTaps>
void MaxPoolBy(const PoolWindow& w, int64_t count, uint8_t* dst) noexcept {
  const int64_t rows = kTaps > 0 ? kTaps : w.rows, columns = kTaps > 0 ? kTaps : w.columns;
  const int64_t down = w.row_step, right = w.column_step;
  const uint8_t* base = w.base;
  for (int64_t c = 0; c < count; c += 64) {
    const __mmask64 mask = count - c >= 64 ? ~__mmask64{0} : (__mmask64{1} << (count - c)) - 1;
    __m512i best = _mm512_maskz_loadu_epi8(mask, base + c);
#pragma GCC unroll 3
    for (int64_t y = 0; y < rows; ++y) {
#pragma GCC unroll 3
      for (int64_t x = 0; x < columns; ++x) {
        const __m512i value = _mm512_maskz_loadu_epi8(mask, base + c + y * down + x * right);
        best = kSigned ? _mm512_max_epi8(best, value) : _mm512_max_epu8(best, value);
      }
    }
    _mm512_mask_storeu_epi8(dst + c, mask, best);
  }
}

void MaxPool(const PoolWindow& w, int64_t count, bool is_signed, uint8_t* dst) noexcept {
  if (w.rows == 3 && w.columns == 3) {
    return is_signed ? MaxPoolBy<true, 3>(w, count, dst) : MaxPoolBy<false, 3>(w, count, dst);
  }
  is_signed ? MaxPoolBy<true, 0>(w, count, dst) : MaxPoolBy<false, 0>(w, count, dst);
}

// Sums of 64 channels in words, which hold 128 taps of u8 (s8: of x + 128).
struct WordSums {
  static constexpr int64_t kMostTaps = 128;
  __m512i low = _mm512_setzero_si512(), high = _mm512_setzero_si512();
  int64_t taps = 0;

  void Add(const uint8_t* x, __m256i flip) {
    const auto half = [&](int64_t i) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
      return _mm512_cvtepu8_epi16(_mm256_xor_si256(bytes, flip));
    };
    low = _mm512_add_epi16(low, half(0));
    high = _mm512_add_epi16(high, half(32));
    ++taps;
  }
  // sum[0, count) += the sums, and starts again.
  void MoveTo(int32_t* sum, int64_t count, bool is_signed) {
    const __m512i offset = _mm512_set1_epi32(static_cast<int32_t>(is_signed ? 128 * taps : 0));
    alignas(64) uint16_t words[64];
    _mm512_store_si512(words, low);
    _mm512_store_si512(words + 32, high);
    for (int64_t i = 0; i < count; i += 16) {
      const auto* sixteen = reinterpret_cast<const __m256i*>(words + i);
      const __m512i x = _mm512_cvtepu16_epi32(_mm256_load_si256(sixteen));
      const __m512i old = _mm512_loadu_si512(sum + i);
      _mm512_storeu_si512(sum + i, _mm512_add_epi32(old, _mm512_sub_epi32(x, offset)));
    }
    *this = {};
  }
};

void SumPool(const PoolWindow& w, int64_t count, bool is_signed, int32_t* sum) noexcept {
  const __m256i flip = _mm256_set1_epi8(static_cast<char>(is_signed ? 0x80 : 0));
  for (int64_t c = 0; c < count; c += 16) _mm512_storeu_si512(sum + c, _mm512_setzero_si512());
  for (int64_t c = 0; c < count; c += 64) {
    const int64_t left = count - c < 64 ? count - c : 64;
    WordSums words;
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        words.Add(tap, flip);
        if (words.taps == WordSums::kMostTaps) words.MoveTo(sum + c, left, is_signed);
      }
    }
    words.MoveTo(sum + c, left, is_signed);
  }
}

template <bool kSigned>
__m512i WidenHalf(const uint8_t* x) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  return kSigned ? _mm512_cvtepi8_epi16(bytes) : _mm512_cvtepu8_epi16(bytes);
}

// dst[0, 16) of the channels in `mask`.
void StoreAverages(__m256i words, const PoolAverage& a, __mmask16 mask, uint8_t* dst) {
  const __m512i sums = _mm512_add_epi32(_mm512_cvtepi16_epi32(words), _mm512_set1_epi32(a.pads));
  const __m512 product = _mm512_mul_ps(_mm512_set1_ps(a.factor), _mm512_cvtepi32_ps(sums));
  __m512 v = _mm512_add_ps(product, _mm512_set1_ps(a.offset));
  v = _mm512_max_ps(v, _mm512_set1_ps(static_cast<float>(a.lo)));
  v = _mm512_min_ps(v, _mm512_set1_ps(static_cast<float>(a.hi)));
  _mm_mask_storeu_epi8(dst, mask, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}

// Words hold the sums of kMostAveraged taps.
template <bool kSigned>
void AveragePoolOf(const PoolWindow& w, int64_t count, const PoolAverage& average, uint8_t* dst) {
  for (int64_t c = 0; c < count; c += 64) {
    __m512i low = _mm512_setzero_si512(), high = low;
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        low = _mm512_add_epi16(low, WidenHalf<kSigned>(tap));
        high = _mm512_add_epi16(high, WidenHalf<kSigned>(tap + 32));
      }
    }
    const int64_t left = count - c;
    const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const auto store = [&](__m256i words, int first) {
      StoreAverages(words, average, static_cast<__mmask16>(mask >> first), dst + c + first);
    };
    store(_mm512_castsi512_si256(low), 0);
    store(_mm512_extracti64x4_epi64(low, 1), 16);
    store(_mm512_castsi512_si256(high), 32);
    store(_mm512_extracti64x4_epi64(high, 1), 48);
  }
}

void AveragePool(const PoolWindow& w, int64_t count, bool is_signed, const PoolAverage& average,
                 uint8_t* dst) noexcept {
  is_signed ? AveragePoolOf<true>(w, count, average, dst)
            : AveragePoolOf<false>(w, count, average, dst);
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_POOL_H_
