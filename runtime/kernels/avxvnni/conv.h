// The convolution tile of AVX-VNNI: 6 pixels x 16 channels in 12 accumulators of 8, u8 x s8 dot
// products of four.
#ifndef RSHIFT_RUNTIME_KERNELS_AVXVNNI_CONV_H_
#define RSHIFT_RUNTIME_KERNELS_AVXVNNI_CONV_H_

#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/avx2/finish.h"
#include "runtime/kernels/driver/conv.h"

namespace rshift {
namespace {

inline __m256i Broadcast4(const uint8_t* x) {
  int32_t four;
  std::memcpy(&four, x, sizeof four);
  return _mm256_set1_epi32(four);
}

// What activations are XORed with.
inline uint8_t FlipOf(const ConvArgs& args) { return args.src_signed ? 0x80 : 0; }

// R pixels x 16 channels of the panel, from channel `first`.
template <int R>
void DotColumn(const ConvArgs& args, const TileArgs& t, int64_t first) {
  constexpr int kRows = 6;
  const int32_t* bias =
      (args.src_signed ? args.requant.bias_flipped : args.requant.bias) + t.entry + first;
  __m256i acc[R][2];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    acc[r][0] = LoadEight(bias);
    acc[r][1] = LoadEight(bias + 8);
  }
  const __m256i flip = _mm256_set1_epi8(static_cast<char>(FlipOf(args)));
  const int8_t* w = t.weights + first * 4;
  for (int64_t tap = 0; tap < t.taps; w += t.gaps[tap++] * t.width) {
    const uint8_t* x[R];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) x[r] = t.rows[tap * kRows + r] + t.channel_offset;
    for (int64_t k = 0; k < args.ic4; k += 4, w += t.width * 4) {
      const __m256i b0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
      const __m256i b1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 32));
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        const __m256i a = _mm256_xor_si256(Broadcast4(x[r] + k), flip);
        acc[r][0] = _mm256_dpbusd_avx_epi32(acc[r][0], a, b0);
        acc[r][1] = _mm256_dpbusd_avx_epi32(acc[r][1], a, b1);
      }
    }
  }
  alignas(32) int32_t rows[R][kColumn];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    StoreEight(rows[r], acc[r][0]);
    StoreEight(rows[r] + 8, acc[r][1]);
  }
  FinishTile<R>(args.requant, t, first, rows);
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVXVNNI_CONV_H_
