// A permutation chooses among the 128 bytes of two windows by seven bits of each index; the eighth
// chooses between two such pairs.
#include "runtime/kernels/avx512/vbmi.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

#define RSHIFT_VBMI [[gnu::target("avx512f,avx512bw,avx512vbmi")]]

RSHIFT_VBMI inline __m512i WindowVbmi(const ShuffleBlock& block, int i, const uint8_t* src) {
  return _mm512_maskz_loadu_epi8(block.loaded[i], src + block.window[i]);
}

RSHIFT_VBMI inline __m512i BlockVbmi(const ShuffleBlock& block, const uint8_t* src) {
  const __m512i from = _mm512_load_si512(block.from);
  const __m512i a = WindowVbmi(block, 0, src);
  if (block.windows == 1) return _mm512_permutexvar_epi8(from, a);
  const __m512i b = WindowVbmi(block, 1, src);
  if (block.windows == 2) return _mm512_permutex2var_epi8(a, from, b);
  const __m512i c = WindowVbmi(block, 2, src), d = WindowVbmi(block, 3, src);
  const __m512i low = _mm512_permutex2var_epi8(a, from, b);
  const __m512i high = _mm512_permutex2var_epi8(c, from, d);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(from), low, high);
}

}  // namespace

RSHIFT_VBMI void ShuffleBytesVbmi(const ShuffleBlock* blocks, int64_t count, const uint8_t* src,
                                  uint8_t* dst) noexcept {
  for (const ShuffleBlock* block = blocks; block != blocks + count; ++block) {
    const __m512i bytes = BlockVbmi(*block, src);
    if (block->stored == ~uint64_t{0}) {
      _mm512_storeu_si512(dst + block->dst, bytes);
    } else {
      _mm512_mask_storeu_epi8(dst + block->dst, block->stored, bytes);
    }
  }
}

}  // namespace rshift
#endif
