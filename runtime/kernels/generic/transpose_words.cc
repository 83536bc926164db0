// In squares of four words, with AVX2 of eight: each half of a register has four words of a column
// that is four columns from the other's, so that two levels of interleaving within halves are all
// it takes. The last of the squares may overlap those before it. Squares of sixteen with AVX-512
// were 10 % slower where the matrix is larger than L2, and prefetching changed nothing (Zen 4).
#include "runtime/kernels/transpose_words.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "runtime/kernels/generic/transpose_squares.h"

namespace rshift {
namespace {

typedef uint32_t FourWords __attribute__((vector_size(16)));

using WordsSquare = TransposeSquare<uint32_t>;

void SquareOfFour(const WordsSquare& s) {
  FourWords x[4];
  for (int64_t c = 0; c < 4; ++c) std::memcpy(&x[c], s.src + c * s.src_pitch, sizeof x[c]);
  const FourWords a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  const FourWords b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  const FourWords c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  const FourWords d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  const FourWords y[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int64_t r = 0; r < 4; ++r) std::memcpy(s.dst + r * s.dst_pitch, &y[r], sizeof y[r]);
}

#if defined(__x86_64__)
#define RSHIFT_AVX2 [[gnu::target("avx2")]]
#define RSHIFT_AVX512 [[gnu::target("avx512f")]]

RSHIFT_AVX2 inline __m256 SpacedColumnsAvx2(const uint32_t* src, int64_t pitch) {
  const auto at = [=](int64_t column) {
    return reinterpret_cast<const float*>(src + column * pitch);
  };
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(at(0))), _mm_loadu_ps(at(4)), 1);
}

RSHIFT_AVX2 void SquareOfEightAvx2(const WordsSquare& s) {
#pragma GCC unroll 2
  for (int64_t r = 0; r < 8; r += 4) {
    __m256d x[4];
    __m256 y[4];
#pragma GCC unroll 4
    for (int64_t c = 0; c < 4; ++c)
      y[c] = SpacedColumnsAvx2(s.src + c * s.src_pitch + r, s.src_pitch);
    x[0] = _mm256_castps_pd(_mm256_unpacklo_ps(y[0], y[1]));
    x[1] = _mm256_castps_pd(_mm256_unpacklo_ps(y[2], y[3]));
    x[2] = _mm256_castps_pd(_mm256_unpackhi_ps(y[0], y[1]));
    x[3] = _mm256_castps_pd(_mm256_unpackhi_ps(y[2], y[3]));
    const auto row = [&](int64_t i) {
      return reinterpret_cast<double*>(s.dst + (r + i) * s.dst_pitch);
    };
    _mm256_storeu_pd(row(0), _mm256_unpacklo_pd(x[0], x[1]));
    _mm256_storeu_pd(row(1), _mm256_unpackhi_pd(x[0], x[1]));
    _mm256_storeu_pd(row(2), _mm256_unpacklo_pd(x[2], x[3]));
    _mm256_storeu_pd(row(3), _mm256_unpackhi_pd(x[2], x[3]));
  }
}

// Sixteen rows of three columns, side by side: the pixels of an image.
RSHIFT_AVX512 inline void PixelsOfThreeAvx512(const WordsSquare& s) {
  const __m512i a = _mm512_loadu_si512(s.src), b = _mm512_loadu_si512(s.src + s.src_pitch);
  const __m512i c = _mm512_loadu_si512(s.src + 2 * s.src_pitch);
  // Of the first two columns, where the third one's words go; then the third one's among them.
  const __m512i two[3] = {
      _mm512_setr_epi32(0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5),
      _mm512_setr_epi32(21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26),
      _mm512_setr_epi32(0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0)};
  const __m512i third[3] = {
      _mm512_setr_epi32(0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15),
      _mm512_setr_epi32(0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15),
      _mm512_setr_epi32(26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31)};
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const __m512i ab = _mm512_permutex2var_epi32(a, two[i], b);
    _mm512_storeu_si512(s.dst + 16 * i, _mm512_permutex2var_epi32(ab, third[i], c));
  }
}
#endif

#if defined(__x86_64__)
void TransposeWordsAvx2(const uint32_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                        uint32_t* dst, int64_t dst_pitch) noexcept {
  if (rows < 8 || columns < 8) return TransposeWords(src, src_pitch, rows, columns, dst, dst_pitch);
  TransposeBySquares<8, SquareOfEightAvx2>(WordsSquare{src, src_pitch, dst, dst_pitch}, rows,
                                           columns);
}

void TransposeWordsAvx512(const uint32_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                          uint32_t* dst, int64_t dst_pitch) noexcept {
  if (columns == 3 && dst_pitch == 3 && rows >= 16) {
    for (int64_t r = 0; r < rows; r += 16) {
      const int64_t row = r + 16 <= rows ? r : rows - 16;
      PixelsOfThreeAvx512({src + row, src_pitch, dst + 3 * row, 3});
    }
    return;
  }
  TransposeWordsAvx2(src, src_pitch, rows, columns, dst, dst_pitch);
}
#endif

}  // namespace

void TransposeWords(const uint32_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                    uint32_t* dst, int64_t dst_pitch) noexcept {
  if (rows >= 4 && columns >= 4)
    return TransposeBySquares<4, SquareOfFour>(WordsSquare{src, src_pitch, dst, dst_pitch}, rows,
                                               columns);
  TransposeOneByOne(WordsSquare{src, src_pitch, dst, dst_pitch}, rows, columns);
}

TransposeWordsFn TransposeWordsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni) return TransposeWordsAvx512;
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return TransposeWordsAvx2;
#endif
  (void)isa;
  return TransposeWords;
}

}  // namespace rshift
