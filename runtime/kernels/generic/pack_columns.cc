#include "runtime/kernels/pack_columns.h"

#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace rshift {
namespace {

constexpr int64_t kColumns = 16, kRows = 4;  // a line of packed weights

// Four rows of 16 bytes -> 16 columns of four. Both architectures have it without extensions.
#if defined(__x86_64__)
void PackLine(const uint8_t* const (&rows)[kRows], uint8_t flip, int8_t* dst) {
  const __m128i all = _mm_set1_epi8(static_cast<char>(flip));
  const auto load = [&](int row) {
    return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[row])), all);
  };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab_low = _mm_unpacklo_epi8(a, b), ab_high = _mm_unpackhi_epi8(a, b);
  const __m128i cd_low = _mm_unpacklo_epi8(c, d), cd_high = _mm_unpackhi_epi8(c, d);
  auto* to = reinterpret_cast<__m128i*>(dst);
  _mm_storeu_si128(to, _mm_unpacklo_epi16(ab_low, cd_low));
  _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(ab_low, cd_low));
  _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(ab_high, cd_high));
  _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(ab_high, cd_high));
}
#elif defined(__aarch64__)
void PackLine(const uint8_t* const (&rows)[kRows], uint8_t flip, int8_t* dst) {
  const uint8x16_t all = vdupq_n_u8(flip);
  uint8x16x4_t line;
  for (int row = 0; row < kRows; ++row) line.val[row] = veorq_u8(vld1q_u8(rows[row]), all);
  vst4q_u8(reinterpret_cast<uint8_t*>(dst), line);
}
#else
void PackLine(const uint8_t* const (&rows)[kRows], uint8_t flip, int8_t* dst) {
  for (int64_t i = 0; i < kColumns * kRows; ++i)
    dst[i] = static_cast<int8_t>(rows[i % kRows][i / kRows] ^ flip);
}
#endif

}  // namespace

void PackColumns(const uint8_t* src, int64_t pitch, int64_t rows, int64_t columns, uint8_t flip,
                 int8_t* dst) noexcept {
  const int64_t width = (columns + kColumns - 1) / kColumns * kColumns;
  // What does not exist, XORed, is 0.
  uint8_t absent[kColumns], part[kRows][kColumns];
  std::memset(absent, flip, sizeof absent);
  std::memset(part, flip, sizeof part);
  for (int64_t k = 0; k < rows; k += kRows) {
    const uint8_t* lines[kRows];
    for (int64_t column = 0; column < width; column += kColumns, dst += kColumns * kRows) {
      const int64_t real = columns - column;
      for (int64_t row = 0; row < kRows; ++row) {
        lines[row] = k + row < rows ? src + (k + row) * pitch + column : absent;
        if (real >= kColumns || k + row >= rows) continue;
        std::memcpy(part[row], lines[row], static_cast<size_t>(real));
        lines[row] = part[row];
      }
      PackLine(lines, flip, dst);
    }
  }
}

}  // namespace rshift
