// Kernels for AVX512-VNNI: convolution (conv_avx512.h), depthwise (depthwise_avx512.h), pooling.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "runtime/kernels/conv_avx512.h"
#include "runtime/kernels/depthwise_avx512.h"
#include "runtime/kernels/peak.h"

namespace rshift {
namespace {

void MaxPool(const PoolWindow& w, int64_t count, bool is_signed, uint8_t* dst) noexcept {
  for (int64_t c = 0; c < count; c += 64) {
    const __mmask64 mask = count - c >= 64 ? ~__mmask64{0} : (__mmask64{1} << (count - c)) - 1;
    __m512i best = _mm512_maskz_loadu_epi8(mask, w.base + c);
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        const __m512i value = _mm512_maskz_loadu_epi8(mask, tap);
        best = is_signed ? _mm512_max_epi8(best, value) : _mm512_max_epu8(best, value);
      }
    }
    _mm512_mask_storeu_epi8(dst + c, mask, best);
  }
}

void SumPool(const PoolWindow& w, int64_t count, bool is_signed, int32_t* sum) noexcept {
  for (int64_t c = 0; c < count; c += 16) {
    __m512i total = _mm512_setzero_si512();
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tap));
        total = _mm512_add_epi32(
            total, is_signed ? _mm512_cvtepi8_epi32(value) : _mm512_cvtepu8_epi32(value));
      }
    }
    _mm512_storeu_si512(sum + c, total);
  }
}

int64_t Peak(int64_t rounds) noexcept {
  constexpr int kDots = 24;  // as many as the convolution's tile
  RunDots<kDots>(rounds, _mm512_set1_epi8(1), _mm512_set1_epi8(2),
                 [](__m512i acc, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(acc, a, b); });
  return rounds * kDots * 64;
}

}  // namespace

const KernelTable kAvx512VnniKernels = {.conv = DriveAnyConv,
                                        .conv_scratch = ConvScratchBytes<ConvUnit<AnyForm>>,
                                        .depthwise = DriveDepthwiseDot,
                                        .depthwise_scratch = DepthwiseDotScratchBytes,
                                        .max_pool = MaxPool,
                                        .sum_pool = SumPool,
                                        .requantize = RequantizeAll,
                                        .peak = Peak};

}  // namespace rshift
#endif
