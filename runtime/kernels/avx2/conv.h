// The convolution tile of AVX2 without VNNI: activations and weights are widened to s16 and
// multiplied in pairs into s32, which is exact (vpmaddubsw, the obvious instruction, saturates at
// s16 and is never used). 6 pixels x 16 channels in 12 accumulators of 8.
//   Four neighbouring bytes are widened where they lie, two at a time: the even ones, and the odd
// ones. So neither activations nor weights are moved between lanes, which few ports can do.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_CONV_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_CONV_H_

#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/avx2/finish.h"
#include "runtime/kernels/driver/conv.h"

namespace rshift {
namespace {

// As s16: bytes 0 and 2 of every 32 bits, or bytes 1 and 3.
template <bool kOdd, bool kSigned>
[[gnu::always_inline]] inline __m256i Widen(__m256i v) {
  if constexpr (kOdd) return kSigned ? _mm256_srai_epi16(v, 8) : _mm256_srli_epi16(v, 8);
  if constexpr (kSigned) return _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8);
  return _mm256_and_si256(v, _mm256_set1_epi32(0xff00ff));
}

inline __m256i BroadcastFour(const uint8_t* x) {
  int32_t four;
  std::memcpy(&four, x, sizeof four);
  return _mm256_set1_epi32(four);
}

// g++ 12 adds products first, one to the other, and has no registers for that: an empty asm on the
// sum keeps the order.
inline void MultiplyAccumulate(__m256i& acc, __m256i a, __m256i b) {
  acc = _mm256_add_epi32(acc, _mm256_madd_epi16(a, b));
  asm("" : "+x"(acc));
}

// The even or the odd ones of four neighbouring channels in, x[r][k] to x[r][k + 3], and their
// weights.
template <bool kOdd, bool kSigned, int R>
[[gnu::always_inline]] inline void MultiplyHalf(const uint8_t* const (&x)[R], int64_t k,
                                                const int8_t* w, __m256i (&acc)[R][2]) {
  const __m256i b0 = Widen<kOdd, true>(LoadEight(reinterpret_cast<const int32_t*>(w)));
  const __m256i b1 = Widen<kOdd, true>(LoadEight(reinterpret_cast<const int32_t*>(w + 32)));
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    const __m256i a = Widen<kOdd, kSigned>(BroadcastFour(x[r] + k));
    MultiplyAccumulate(acc[r][0], a, b0);
    MultiplyAccumulate(acc[r][1], a, b1);
  }
}

// R pixels x 16 channels of the panel, from channel `first`.
template <int R, bool kSigned>
void DotColumn(const ConvArgs& args, const TileArgs& t, int64_t first) {
  constexpr int kRows = 6;
  __m256i acc[R][2];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = _mm256_setzero_si256();
  const int8_t* w = t.weights + first * 4;
  for (int64_t tap = 0; tap < t.taps; w += t.gaps[tap++] * t.width) {
    const uint8_t* x[R];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) x[r] = t.rows[tap * kRows + r] + t.channel_offset;
    for (int64_t k = 0; k < args.ic4; k += 4, w += t.width * 4) {
      MultiplyHalf<false, kSigned>(x, k, w, acc);
      // The same bytes are loaded again: there are no registers to keep them.
      int64_t again = k;
      asm("" : "+r"(again), "+r"(w));
      MultiplyHalf<true, kSigned>(x, again, w, acc);
    }
  }
  alignas(32) int32_t rows[R][kColumn];
  const int32_t* bias = args.requant.bias + t.entry + first;
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    StoreEight(rows[r], _mm256_add_epi32(acc[r][0], LoadEight(bias)));
    StoreEight(rows[r] + 8, _mm256_add_epi32(acc[r][1], LoadEight(bias + 8)));
  }
  FinishTile<R>(args.requant, t, first, rows);
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_CONV_H_
