#include "calibrate/value_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "calibrate/statistics.h"

namespace rshift {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffffu;
constexpr uint32_t kBinsOfSign = OctaveWindow::kBinsOfSign;
constexpr size_t kAhead = 1024;  // values: fetched while others are counted

SplitValues ScanScalar(std::span<const float> values, OctaveWindow window, Extremes& extremes,
                       uint16_t* near, float* far) {
  Extremes found = extremes;
  SplitValues count;
  for (const float v : values) {
    found.low = v < found.low ? v : found.low;
    found.high = v > found.high ? v : found.high;
    const uint32_t bits = std::bit_cast<uint32_t>(v), magnitude = bits & kMagnitude;
    // Below the window the difference wraps around and is large.
    const uint32_t bin = (magnitude >> Histogram::kBinShift) - (window.first << 10);
    const bool is_near = bin < kBinsOfSign;
    near[count.near] = static_cast<uint16_t>(bin + (bits >> 31) * kBinsOfSign);
    count.near += is_near ? 1 : 0;
    if (!is_near && magnitude != 0) far[count.far++] = v;
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

// The lanes of `x` whose bit in `mask` is set, in order, at the front.
[[gnu::target("avx2")]] __m256i PackLanes(__m256i x, unsigned mask) {
  const __m128i lanes = _mm_cvtsi64_si128(static_cast<int64_t>(kKeptLanes[mask]));
  return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(lanes));
}

template <typename Lanes>
void Widen(Extremes& extremes, const Lanes& low, const Lanes& high) {
  for (size_t lane = 0; lane < low.size(); ++lane) {
    extremes.low = low[lane] < extremes.low ? low[lane] : extremes.low;
    extremes.high = high[lane] > extremes.high ? high[lane] : extremes.high;
  }
}

[[gnu::target("avx2,popcnt")]] SplitValues ScanAvx2(std::span<const float> values,
                                                    OctaveWindow window, Extremes& extremes,
                                                    uint16_t* near, float* far) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i first = _mm256_set1_epi32(static_cast<int>(window.first << 10));
  const __m256i last_bin = _mm256_set1_epi32(static_cast<int>(kBinsOfSign - 1));
  __m256 low = _mm256_set1_ps(extremes.low), high = _mm256_set1_ps(extremes.high);
  const size_t whole = values.size() / 8 * 8;
  SplitValues count;
  for (size_t i = 0; i < whole; i += 8) {
    __builtin_prefetch(values.data() + i + kAhead);
    const __m256 x = _mm256_loadu_ps(values.data() + i);
    low = _mm256_min_ps(x, low);  // a NaN in x gives the second operand
    high = _mm256_max_ps(x, high);
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(kMagnitude));
    const __m256i bin = _mm256_sub_epi32(_mm256_srli_epi32(magnitude, Histogram::kBinShift), first);
    const __m256i is_near = _mm256_cmpeq_epi32(_mm256_min_epu32(bin, last_bin), bin);
    const __m256i sign = _mm256_and_si256(_mm256_srai_epi32(bits, 31),
                                          _mm256_set1_epi32(static_cast<int>(kBinsOfSign)));
    const auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_near)));
    const __m256i packed = PackLanes(_mm256_add_epi32(bin, sign), mask);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(near + count.near),
        _mm_packus_epi32(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1)));
    count.near += static_cast<size_t>(_mm_popcnt_u32(mask));
    const __m256i is_far = _mm256_or_si256(is_near, _mm256_cmpeq_epi32(magnitude, zero));
    const auto others = ~static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_far)));
    if ((others & 255u) != 0) [[unlikely]] {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(far + count.far),
                          PackLanes(bits, others & 255u));
      count.far += static_cast<size_t>(_mm_popcnt_u32(others & 255u));
    }
  }
  alignas(32) std::array<float, 8> lows, highs;
  _mm256_store_ps(lows.data(), low);
  _mm256_store_ps(highs.data(), high);
  Widen(extremes, lows, highs);
  const SplitValues rest =
      ScanScalar(values.subspan(whole), window, extremes, near + count.near, far + count.far);
  return {count.near + rest.near, count.far + rest.far};
}

[[gnu::target("avx512f,popcnt")]] SplitValues ScanAvx512(std::span<const float> values,
                                                         OctaveWindow window, Extremes& extremes,
                                                         uint16_t* near, float* far) {
  const __m512i first = _mm512_set1_epi32(static_cast<int>(window.first << 10));
  const __m512i bins_of_sign = _mm512_set1_epi32(static_cast<int>(kBinsOfSign));
  __m512 low = _mm512_set1_ps(extremes.low), high = _mm512_set1_ps(extremes.high);
  const size_t whole = values.size() / 16 * 16;
  SplitValues count;
  for (size_t i = 0; i < whole; i += 16) {
    __builtin_prefetch(values.data() + i + kAhead);
    const __m512 x = _mm512_loadu_ps(values.data() + i);
    low = _mm512_min_ps(x, low);  // a NaN in x gives the second operand
    high = _mm512_max_ps(x, high);
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(kMagnitude));
    const __m512i bin = _mm512_sub_epi32(_mm512_srli_epi32(magnitude, Histogram::kBinShift), first);
    const __mmask16 is_near = _mm512_cmplt_epu32_mask(bin, bins_of_sign);
    const __m512i sign = _mm512_and_si512(_mm512_srai_epi32(bits, 31), bins_of_sign);
    const __m512i packed = _mm512_maskz_compress_epi32(is_near, _mm512_add_epi32(bin, sign));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(near + count.near),
                        _mm512_cvtepi32_epi16(packed));
    count.near += static_cast<size_t>(_mm_popcnt_u32(is_near));
    const __mmask16 is_far = _mm512_test_epi32_mask(magnitude, magnitude) & ~is_near;
    if (is_far != 0) [[unlikely]] {
      _mm512_storeu_si512(far + count.far, _mm512_maskz_compress_epi32(is_far, bits));
      count.far += static_cast<size_t>(_mm_popcnt_u32(is_far));
    }
  }
  alignas(64) std::array<float, 16> lows, highs;
  _mm512_store_ps(lows.data(), low);
  _mm512_store_ps(highs.data(), high);
  Widen(extremes, lows, highs);
  const SplitValues rest =
      ScanScalar(values.subspan(whole), window, extremes, near + count.near, far + count.far);
  return {count.near + rest.near, count.far + rest.far};
}

#endif

}  // namespace

std::vector<ScanFunction> ScanForms() {
  std::vector<ScanFunction> forms{ScanScalar};
#ifdef __x86_64__
  const bool has_popcnt = __builtin_cpu_supports("popcnt") != 0;
  if (has_popcnt && __builtin_cpu_supports("avx2") != 0) forms.push_back(ScanAvx2);
  if (has_popcnt && __builtin_cpu_supports("avx512f") != 0) forms.push_back(ScanAvx512);
#endif
  return forms;
}

SplitValues ScanValues(std::span<const float> values, OctaveWindow window, Extremes& extremes,
                       uint16_t* near, float* far) {
  static const ScanFunction scan = ScanForms().back();
  return scan(values, window, extremes, near, far);
}

Extremes FiniteExtremes(std::span<const float> values, float limit) {
  Extremes extremes;
  for (const float v : values) {
    if (!std::isfinite(v) || v <= limit) continue;
    extremes.low = std::min(extremes.low, v);
    extremes.high = std::max(extremes.high, v);
  }
  return extremes;
}

}  // namespace rshift
