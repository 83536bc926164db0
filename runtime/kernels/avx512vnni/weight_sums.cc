#include "runtime/kernels/weight_sums.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

// Panels of 16 * V channels. A lane is a channel; U rows side by side hide the dot's latency.
template <int V, int U>
void SumPanel(const int8_t* w, int64_t count, uint32_t* sums) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i acc[U * V];
#pragma GCC unroll 8
  for (int i = 0; i < U * V; ++i) acc[i] = _mm512_setzero_si512();
  for (; count >= U; count -= U, w += 64 * U * V) {
#pragma GCC unroll 8
    for (int i = 0; i < U * V; ++i) {
      acc[i] = _mm512_dpbusd_epi32(acc[i], ones, _mm512_loadu_si512(w + 64 * i));
    }
  }
  for (; count > 0; --count, w += 64 * V) {
#pragma GCC unroll 8
    for (int i = 0; i < V; ++i) {
      acc[i] = _mm512_dpbusd_epi32(acc[i], ones, _mm512_loadu_si512(w + 64 * i));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < V; ++i) {
    __m512i sum = _mm512_loadu_si512(sums + 16 * i);
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u) sum = _mm512_add_epi32(sum, acc[u * V + i]);
    _mm512_storeu_si512(sums + 16 * i, sum);
  }
}

}  // namespace

void SumWeightsAvx512Vnni(const int8_t* quads, int64_t count, int64_t width,
                          uint32_t* sums) noexcept {
  switch (width) {
    case 64:
      return SumPanel<4, 2>(quads, count, sums);
    case 48:
      return SumPanel<3, 2>(quads, count, sums);
    case 32:
      return SumPanel<2, 4>(quads, count, sums);
    default:  // 16, the narrowest panel
      return SumPanel<1, 8>(quads, count, sums);
  }
}

}  // namespace rshift
#endif
