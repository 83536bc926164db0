// Sixteen rows x four columns at a time: four loads of sixteen, two levels of interleaving, sixteen
// stores of four bytes. Three columns are written as four, the fourth byte being mended by the next
// row.
#include "runtime/steps/transpose_bytes.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rshift {
namespace {

void TransposeScalar(const uint8_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                     uint8_t* dst, int64_t dst_pitch) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) dst[r * dst_pitch + c] = src[c * src_pitch + r];
  }
}

#if defined(__SSE2__)
inline void StoreRows(__m128i rows, uint8_t* dst, int64_t dst_pitch) {
  for (int i = 0; i < 4; ++i) {
    const int32_t four = _mm_cvtsi128_si32(rows);
    std::memcpy(dst + i * dst_pitch, &four, sizeof four);
    rows = _mm_srli_si128(rows, 4);
  }
}

inline void SixteenByFour(const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d,
                          uint8_t* dst, int64_t dst_pitch) {
  const auto load = [](const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  const __m128i va = load(a), vb = load(b), vc = load(c), vd = load(d);
  const __m128i ab = _mm_unpacklo_epi8(va, vb), cd = _mm_unpacklo_epi8(vc, vd);
  const __m128i ab_high = _mm_unpackhi_epi8(va, vb), cd_high = _mm_unpackhi_epi8(vc, vd);
  StoreRows(_mm_unpacklo_epi16(ab, cd), dst, dst_pitch);
  StoreRows(_mm_unpackhi_epi16(ab, cd), dst + 4 * dst_pitch, dst_pitch);
  StoreRows(_mm_unpacklo_epi16(ab_high, cd_high), dst + 8 * dst_pitch, dst_pitch);
  StoreRows(_mm_unpackhi_epi16(ab_high, cd_high), dst + 12 * dst_pitch, dst_pitch);
}
#endif

}  // namespace

void TransposeBytes(const uint8_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                    uint8_t* dst, int64_t dst_pitch) {
  int64_t r = 0;
#if defined(__SSE2__)
  // With three columns a block needs a row right behind it, whose first byte it may spoil.
  const int64_t behind = columns == 3 ? 1 : 0;
  const bool blocks = columns > 3 || (columns == 3 && dst_pitch == 3);
  for (; blocks && r + 16 + behind <= rows; r += 16) {
    for (int64_t c = 0; c < columns; c += 4) {
      // The last four columns may overlap the ones before.
      const int64_t first = columns == 3 ? 0 : c + 4 <= columns ? c : columns - 4;
      const uint8_t* from = src + first * src_pitch + r;
      SixteenByFour(from, from + src_pitch, from + 2 * src_pitch,
                    from + (columns == 3 ? 2 : 3) * src_pitch, dst + r * dst_pitch + first,
                    dst_pitch);
    }
  }
#endif
  TransposeScalar(src + r, src_pitch, rows - r, columns, dst + r * dst_pitch, dst_pitch);
}

}  // namespace rshift
