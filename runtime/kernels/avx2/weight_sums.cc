#include "runtime/kernels/weight_sums.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

// Rows whose pair sums, each at least -256, add up in s16.
constexpr int64_t kRows = 127;

// 16 channels, [rows][width][4] from the first of them on; rows <= kRows.
void SumColumn(const int8_t* w, int64_t rows, int64_t step, uint32_t* sums) {
  const __m256i ones8 = _mm256_set1_epi8(1), ones16 = _mm256_set1_epi16(1);
  __m256i low = _mm256_setzero_si256(), high = low;
  for (int64_t row = 0; row < rows; ++row, w += step) {
    const __m256i* at = reinterpret_cast<const __m256i*>(w);
    // 1 * w[2i] + 1 * w[2i + 1]: far from where this instruction saturates.
    low = _mm256_add_epi16(low, _mm256_maddubs_epi16(ones8, _mm256_loadu_si256(at)));
    high = _mm256_add_epi16(high, _mm256_maddubs_epi16(ones8, _mm256_loadu_si256(at + 1)));
  }
  __m256i* out = reinterpret_cast<__m256i*>(sums);
  const auto add = [ones16](__m256i* to, __m256i pairs) {
    _mm256_storeu_si256(to,
                        _mm256_add_epi32(_mm256_loadu_si256(to), _mm256_madd_epi16(pairs, ones16)));
  };
  add(out, low);
  add(out + 1, high);
}

}  // namespace

void SumWeightsAvx2(const int8_t* quads, int64_t count, int64_t width, uint32_t* sums) noexcept {
  for (int64_t done = 0; done < count; done += kRows) {
    const int64_t rows = count - done < kRows ? count - done : kRows;
    for (int64_t c = 0; c < width; c += 16) {
      SumColumn(quads + (done * width + c) * 4, rows, 4 * width, sums + c);
    }
  }
}

}  // namespace rshift
#endif
