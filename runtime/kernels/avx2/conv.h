// The convolution tile of AVX2 without VNNI: activations and weights are widened to s16 and
// multiplied in pairs into s32, which is exact (vpmaddubsw, the obvious instruction, saturates at
// s16 and is never used). 3 pixels x 16 channels.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_CONV_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_CONV_H_

#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/avx2/finish.h"
#include "runtime/kernels/driver/conv.h"

namespace rshift {
namespace {

// Four activations as s16, repeated in every 64-bit lane.
inline __m256i BroadcastWide(const uint8_t* x, bool is_signed) {
  int32_t four;
  std::memcpy(&four, x, sizeof four);
  const __m128i bytes = _mm_cvtsi32_si128(four);
  return _mm256_broadcastq_epi64(is_signed ? _mm_cvtepi8_epi16(bytes) : _mm_cvtepu8_epi16(bytes));
}

// R pixels x 16 channels of the panel, from channel `first`. acc[r][i] holds channels 4i..4i+3, two
// partial sums each.
template <int R>
void DotColumn(const ConvArgs& args, const TileArgs& t, int64_t first) {
  constexpr int kRows = 3;
  __m256i acc[R][4];
#pragma GCC unroll 3
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) acc[r][i] = _mm256_setzero_si256();
  }
  const int8_t* w = t.weights + first * 4;
  for (int64_t tap = 0; tap < t.taps; w += t.gaps[tap++] * t.width) {
    const uint8_t* x[R];
#pragma GCC unroll 3
    for (int r = 0; r < R; ++r) x[r] = t.rows[tap * kRows + r] + t.channel_offset;
    for (int64_t k = 0; k < args.ic4; k += 4, w += t.width * 4) {
      __m256i b[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        b[i] = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + 16 * i)));
      }
#pragma GCC unroll 3
      for (int r = 0; r < R; ++r) {
        const __m256i a = BroadcastWide(x[r] + k, args.src_signed);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
          acc[r][i] = _mm256_add_epi32(acc[r][i], _mm256_madd_epi16(a, b[i]));
      }
    }
  }
  alignas(32) int32_t rows[R][kColumn];
#pragma GCC unroll 3
  for (int r = 0; r < R; ++r) {
    const auto eight = [&](int half) {
      // hadd gives channels {0,1,4,5 | 2,3,6,7}; the permutation sorts them.
      const __m256i sums = _mm256_hadd_epi32(acc[r][2 * half], acc[r][2 * half + 1]);
      const __m256i sorted = _mm256_permute4x64_epi64(sums, 0xd8);
      return _mm256_add_epi32(sorted, LoadEight(args.requant.bias + t.entry + first + 8 * half));
    };
    StoreEight(rows[r], eight(0));
    StoreEight(rows[r] + 8, eight(1));
  }
  FinishTile<R>(args.requant, t, first, rows);
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_CONV_H_
