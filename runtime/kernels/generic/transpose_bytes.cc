// With SSE2, sixteen rows x four columns at a time: four loads of sixteen, two levels of
// interleaving, sixteen stores of four bytes. Of three columns, those of an image, two rows are
// stored at once: six bytes and two more, which the next rows mend.
#include "runtime/kernels/transpose_bytes.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "runtime/kernels/avx512/vbmi.h"

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

// Four rows of three bytes, dense, each with a fourth that is left out; writes 14 bytes.
inline void StoreTriples(__m128i rows, uint8_t* dst) {
  const __m128i even = _mm_and_si128(rows, _mm_set1_epi64x(0xffffff));
  const __m128i odd = _mm_and_si128(_mm_srli_epi64(rows, 8), _mm_set1_epi64x(0xffffff000000));
  const __m128i sixes = _mm_or_si128(even, odd);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(dst), sixes);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(dst + 6), _mm_unpackhi_epi64(sixes, sixes));
}

template <bool kTriples>
inline void SixteenByFour(const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d,
                          uint8_t* dst, int64_t dst_pitch) {
  const auto load = [](const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  const __m128i va = load(a), vb = load(b), vc = load(c), vd = load(d);
  const __m128i ab = _mm_unpacklo_epi8(va, vb), cd = _mm_unpacklo_epi8(vc, vd);
  const __m128i ab_high = _mm_unpackhi_epi8(va, vb), cd_high = _mm_unpackhi_epi8(vc, vd);
  const auto store = [&](__m128i rows, int64_t first) {
    if constexpr (kTriples) return StoreTriples(rows, dst + 3 * first);
    StoreRows(rows, dst + first * dst_pitch, dst_pitch);
  };
  store(_mm_unpacklo_epi16(ab, cd), 0);
  store(_mm_unpackhi_epi16(ab, cd), 4);
  store(_mm_unpacklo_epi16(ab_high, cd_high), 8);
  store(_mm_unpackhi_epi16(ab_high, cd_high), 12);
}
#endif

}  // namespace

void TransposeBytes(const uint8_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                    uint8_t* dst, int64_t dst_pitch) noexcept {
  int64_t r = 0;
#if defined(__SSE2__)
  // Three columns need a row right behind a block, whose first bytes it spoils.
  for (; columns == 3 && dst_pitch == 3 && r + 17 <= rows; r += 16) {
    const uint8_t* from = src + r;
    SixteenByFour<true>(from, from + src_pitch, from + 2 * src_pitch, from, dst + 3 * r, 3);
  }
  for (; columns > 3 && r + 16 <= rows; r += 16) {
    for (int64_t c = 0; c < columns; c += 4) {
      // The last four columns may overlap the ones before.
      const int64_t first = c + 4 <= columns ? c : columns - 4;
      const uint8_t* from = src + first * src_pitch + r;
      SixteenByFour<false>(from, from + src_pitch, from + 2 * src_pitch, from + 3 * src_pitch,
                           dst + r * dst_pitch + first, dst_pitch);
    }
  }
#endif
  TransposeScalar(src + r, src_pitch, rows - r, columns, dst + r * dst_pitch, dst_pitch);
}

TransposeBytesFn TransposeBytesFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni && __builtin_cpu_supports("avx512vbmi")) return TransposeBytesVbmi;
#endif
  (void)isa;
  return TransposeBytes;
}

}  // namespace rshift
