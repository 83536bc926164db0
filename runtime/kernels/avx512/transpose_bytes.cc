// With VBMI, up to sixteen rows x sixteen columns: a permutation transposes four columns, two
// levels of interleaving put four such pieces together. Three columns are three permutations of 64
// rows. Sixteen rows x sixty-four columns are four such squares side by side: whole lines are
// stored, each once, which counts where the distance of rows puts them all into one set of a cache.
#include "runtime/kernels/avx512/vbmi.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

#define RSHIFT_VBMI [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]]

struct Permutation {
  alignas(64) uint8_t from[64];
};

// Byte 4 r + c of the result is byte r of lane c.
constexpr Permutation TransposeFourColumns() {
  Permutation p{};
  for (int i = 0; i < 64; ++i) p.from[i] = static_cast<uint8_t>(16 * (i % 4) + i / 4);
  return p;
}

// The third `part` of 64 rows of three bytes. kColumn 1: of columns 0 and 1; 2: of these and the
// last one.
template <int kColumn>
constexpr Permutation Interleave3Part(int part) {
  Permutation p{};
  for (int i = 0; i < 64; ++i) {
    const int row = (64 * part + i) / 3, column = (64 * part + i) % 3;
    const int other = kColumn == 1 ? row : i;
    p.from[i] = static_cast<uint8_t>(column == kColumn ? 64 + row : other);
  }
  return p;
}

constexpr Permutation kTransposeFour = TransposeFourColumns();
constexpr Permutation kFirstTwo[3] = {Interleave3Part<1>(0), Interleave3Part<1>(1),
                                      Interleave3Part<1>(2)};
constexpr Permutation kLastOne[3] = {Interleave3Part<2>(0), Interleave3Part<2>(1),
                                     Interleave3Part<2>(2)};

RSHIFT_VBMI inline __m512i FourColumnsVbmi(const uint8_t* src, int64_t pitch, __mmask16 rows) {
  __m512i v = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(rows, src));
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(rows, src + pitch), 1);
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(rows, src + 2 * pitch), 2);
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(rows, src + 3 * pitch), 3);
  return _mm512_permutexvar_epi8(_mm512_load_si512(&kTransposeFour), v);
}

// Rows 0, 4, 8 and 12 behind dst, of those that there are.
RSHIFT_VBMI inline void StoreLanesVbmi(__m512i lanes, int64_t rows, uint8_t* dst, int64_t pitch) {
  const auto at = [=](int row) { return reinterpret_cast<__m128i*>(dst + row * pitch); };
  if (rows > 0) _mm_storeu_si128(at(0), _mm512_castsi512_si128(lanes));
  if (rows > 4) _mm_storeu_si128(at(4), _mm512_extracti32x4_epi32(lanes, 1));
  if (rows > 8) _mm_storeu_si128(at(8), _mm512_extracti32x4_epi32(lanes, 2));
  if (rows > 12) _mm_storeu_si128(at(12), _mm512_extracti32x4_epi32(lanes, 3));
}

// Of the first `rows` <= 16.
RSHIFT_VBMI inline void SixteenColumnsVbmi(const uint8_t* src, int64_t src_pitch, int64_t rows,
                                           uint8_t* dst, int64_t dst_pitch) {
  const auto mask = static_cast<__mmask16>((1 << rows) - 1);
  const __m512i a = FourColumnsVbmi(src, src_pitch, mask);
  const __m512i b = FourColumnsVbmi(src + 4 * src_pitch, src_pitch, mask);
  const __m512i c = FourColumnsVbmi(src + 8 * src_pitch, src_pitch, mask);
  const __m512i d = FourColumnsVbmi(src + 12 * src_pitch, src_pitch, mask);
  const __m512i ab = _mm512_unpacklo_epi32(a, b), cd = _mm512_unpacklo_epi32(c, d);
  const __m512i ab_high = _mm512_unpackhi_epi32(a, b), cd_high = _mm512_unpackhi_epi32(c, d);
  StoreLanesVbmi(_mm512_unpacklo_epi64(ab, cd), rows, dst, dst_pitch);
  StoreLanesVbmi(_mm512_unpackhi_epi64(ab, cd), rows - 1, dst + dst_pitch, dst_pitch);
  StoreLanesVbmi(_mm512_unpacklo_epi64(ab_high, cd_high), rows - 2, dst + 2 * dst_pitch, dst_pitch);
  StoreLanesVbmi(_mm512_unpackhi_epi64(ab_high, cd_high), rows - 3, dst + 3 * dst_pitch, dst_pitch);
}

// Lane i is sixteen rows of column k + 16 i, or of the last one.
RSHIFT_VBMI inline __m512i SpacedColumnsVbmi(const uint8_t* src, int64_t pitch, int64_t k,
                                             int64_t columns) {
  const auto at = [=](int64_t column) {
    const int64_t c = column < columns ? column : columns - 1;
    return reinterpret_cast<const __m128i*>(src + c * pitch);
  };
  __m512i v = _mm512_castsi128_si512(_mm_loadu_si128(at(k)));
  v = _mm512_inserti32x4(v, _mm_loadu_si128(at(k + 16)), 1);
  v = _mm512_inserti32x4(v, _mm_loadu_si128(at(k + 32)), 2);
  return _mm512_inserti32x4(v, _mm_loadu_si128(at(k + 48)), 3);
}

// Interleaving registers i and i + 8, four times, transposes the squares in all lanes. Up to
// sixty-four columns.
template <bool kAll>
RSHIFT_VBMI inline void SixtyFourColumnsVbmi(const uint8_t* src, int64_t src_pitch, int64_t columns,
                                             uint8_t* dst, int64_t dst_pitch) {
  __m512i v[16], w[16];
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) v[k] = SpacedColumnsVbmi(src, src_pitch, k, kAll ? 64 : columns);
#pragma GCC unroll 4
  for (int level = 0; level < 4; ++level) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      w[2 * i] = _mm512_unpacklo_epi8(v[i], v[i + 8]);
      w[2 * i + 1] = _mm512_unpackhi_epi8(v[i], v[i + 8]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) v[i] = w[i];
  }
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r) {
    if constexpr (kAll) {
      _mm512_storeu_si512(dst + r * dst_pitch, v[r]);
    } else {
      _mm512_mask_storeu_epi8(dst + r * dst_pitch, (__mmask64{1} << columns) - 1, v[r]);
    }
  }
}

// Rows [0, 64) of three columns.
RSHIFT_VBMI inline void Interleave3Vbmi(const uint8_t* src, int64_t src_pitch, uint8_t* dst) {
  const __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + src_pitch);
  const __m512i c = _mm512_loadu_si512(src + 2 * src_pitch);
  for (int part = 0; part < 3; ++part) {
    const __m512i two = _mm512_permutex2var_epi8(a, _mm512_load_si512(&kFirstTwo[part]), b);
    _mm512_storeu_si512(dst + 64 * part,
                        _mm512_permutex2var_epi8(two, _mm512_load_si512(&kLastOne[part]), c));
  }
}

// At least sixteen rows; the last of the blocks may overlap those before it.
RSHIFT_VBMI void TransposeWideVbmi(const uint8_t* src, int64_t src_pitch, int64_t rows,
                                   int64_t columns, uint8_t* dst, int64_t dst_pitch) noexcept {
  for (int64_t r = 0; r < rows; r += 16) {
    const int64_t row = r + 16 <= rows ? r : rows - 16;
    const uint8_t* from = src + row;
    uint8_t* to = dst + row * dst_pitch;
    if (columns < 64) SixtyFourColumnsVbmi<false>(from, src_pitch, columns, to, dst_pitch);
    for (int64_t c = 0; columns >= 64 && c < columns; c += 64) {
      const int64_t first = c + 64 <= columns ? c : columns - 64;
      SixtyFourColumnsVbmi<true>(from + first * src_pitch, src_pitch, 64, to + first, dst_pitch);
    }
  }
}

}  // namespace

RSHIFT_VBMI void TransposeBytesVbmi(const uint8_t* src, int64_t src_pitch, int64_t rows,
                                    int64_t columns, uint8_t* dst, int64_t dst_pitch) noexcept {
  // The last of the blocks may overlap those before it.
  if (columns == 3 && dst_pitch == 3 && rows >= 64) {
    for (int64_t r = 0; r < rows; r += 64) {
      const int64_t first = r + 64 <= rows ? r : rows - 64;
      Interleave3Vbmi(src + first, src_pitch, dst + 3 * first);
    }
    return;
  }
  if (columns >= 48 && rows >= 16)
    return TransposeWideVbmi(src, src_pitch, rows, columns, dst, dst_pitch);
  if (columns < 16) return TransposeBytes(src, src_pitch, rows, columns, dst, dst_pitch);
  for (int64_t r = 0; r < rows; r += 16) {
    const int64_t count = rows - r < 16 ? rows - r : 16;
    for (int64_t c = 0; c < columns; c += 16) {
      const int64_t first = c + 16 <= columns ? c : columns - 16;
      SixteenColumnsVbmi(src + first * src_pitch + r, src_pitch, count, dst + r * dst_pitch + first,
                         dst_pitch);
    }
  }
}

}  // namespace rshift
#endif
