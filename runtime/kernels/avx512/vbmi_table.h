// A table of 256 bytes in four registers, for the units of vbmi.h alone: each has its own copy of
// the functions, since one that the linker shared might run on a CPU that was not asked.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512_VBMI_TABLE_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512_VBMI_TABLE_H_

#include <immintrin.h>

#include <cstdint>

#define RSHIFT_VBMI [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]]

namespace rshift {
namespace {

struct TableVbmi {
  __m512i quarter[4];
};

// A permutation looks at seven bits of each byte; the eighth chooses between two of them.
RSHIFT_VBMI inline __m512i LookUpVbmi(const TableVbmi& t, __m512i x) {
  const __m512i low = _mm512_permutex2var_epi8(t.quarter[0], x, t.quarter[1]);
  const __m512i high = _mm512_permutex2var_epi8(t.quarter[2], x, t.quarter[3]);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
}

RSHIFT_VBMI inline TableVbmi LoadTableVbmi(const uint8_t* table) {
  TableVbmi t;
  for (int i = 0; i < 4; ++i) t.quarter[i] = _mm512_loadu_si512(table + 64 * i);
  return t;
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512_VBMI_TABLE_H_
