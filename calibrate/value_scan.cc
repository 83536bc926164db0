#include "calibrate/value_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace rshift {
namespace {

size_t ScanScalar(std::span<const float> values, Extremes& extremes, float* nonzero) {
  Extremes found = extremes;
  size_t count = 0;
  for (const float v : values) {
    found.low = v < found.low ? v : found.low;
    found.high = v > found.high ? v : found.high;
    nonzero[count] = v;  // overwritten by the next one when it is zero
    count += v != 0;
  }
  extremes = found;
  return count;
}

#ifdef __x86_64__

// For each set of kept lanes: their indices, one byte each, from the lowest.
constexpr std::array<uint64_t, 256> KeptLanes() {
  std::array<uint64_t, 256> table{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    unsigned shift = 0;
    for (uint64_t lane = 0; lane < 8; ++lane) {
      if ((mask >> lane & 1u) == 0) continue;
      table[mask] |= lane << shift;
      shift += 8;
    }
  }
  return table;
}
constexpr std::array<uint64_t, 256> kKeptLanes = KeptLanes();

[[gnu::target("avx2,popcnt")]] size_t ScanAvx2(std::span<const float> values, Extremes& extremes,
                                               float* nonzero) {
  __m256 low = _mm256_set1_ps(extremes.low), high = _mm256_set1_ps(extremes.high);
  const size_t whole = values.size() / 8 * 8;
  size_t count = 0;
  for (size_t i = 0; i < whole; i += 8) {
    const __m256 x = _mm256_loadu_ps(values.data() + i);
    low = _mm256_min_ps(x, low);  // a NaN in x gives the second operand
    high = _mm256_max_ps(x, high);
    const __m256 kept = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    const auto mask = static_cast<unsigned>(_mm256_movemask_ps(kept));
    const __m128i lanes = _mm_cvtsi64_si128(static_cast<int64_t>(kKeptLanes[mask]));
    const __m256 packed = _mm256_permutevar8x32_ps(x, _mm256_cvtepu8_epi32(lanes));
    _mm256_storeu_ps(nonzero + count, packed);
    count += static_cast<size_t>(_mm_popcnt_u32(mask));
  }
  alignas(32) float lows[8], highs[8];
  _mm256_store_ps(lows, low);
  _mm256_store_ps(highs, high);
  for (int lane = 0; lane < 8; ++lane) {
    extremes.low = lows[lane] < extremes.low ? lows[lane] : extremes.low;
    extremes.high = highs[lane] > extremes.high ? highs[lane] : extremes.high;
  }
  return count + ScanScalar(values.subspan(whole), extremes, nonzero + count);
}

#endif

}  // namespace

size_t ScanValues(std::span<const float> values, Extremes& extremes, float* nonzero) {
#ifdef __x86_64__
  static const bool has_avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0;
  if (has_avx2) return ScanAvx2(values, extremes, nonzero);
#endif
  return ScanScalar(values, extremes, nonzero);
}

Extremes FiniteExtremes(std::span<const float> values) {
  Extremes extremes;
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    extremes.low = std::min(extremes.low, v);
    extremes.high = std::max(extremes.high, v);
  }
  return extremes;
}

}  // namespace rshift
