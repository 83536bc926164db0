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
constexpr uint32_t kFirstBin = OctaveWindow::kFirstBin, kSign = OctaveWindow::kSign;
constexpr uint32_t kBinsOfSign = OctaveWindow::kOctaves << 10;
constexpr size_t kAhead = 1024;  // values: fetched while others are counted

// Adds to `count`, and writes behind it.
void ScanRest(std::span<const float> values, const OctaveWindow& window, ExtremeLanes& extremes,
              uint16_t* near, float* far, SplitValues& count) {
  float low = extremes.low[0], high = extremes.high[0];
  size_t near_count = count.near, far_count = count.far, frequent = count.frequent;
  uint32_t nearest = kBinsOfSign;
  for (const float v : values) {
    low = v < low ? v : low;
    high = v > high ? v : high;
    const uint32_t bits = std::bit_cast<uint32_t>(v), magnitude = bits & kMagnitude;
    // Below the window the difference wraps around and is large.
    const uint32_t bin = (magnitude >> Histogram::kBinShift) - (window.first << 10);
    const bool is_near = bin < kBinsOfSign;
    const uint32_t number = (bin + kFirstBin) | (bits >> 31) * kSign;
    const bool is_frequent = is_near && number == window.frequent;
    nearest = std::min(nearest, bin);
    near[near_count] = static_cast<uint16_t>(number);
    near_count += is_near && !is_frequent ? 1 : 0;
    frequent += is_frequent ? 1 : 0;
    if (!is_near && magnitude != 0) far[far_count++] = v;
  }
  extremes.low[0] = low;
  extremes.high[0] = high;
  count = {near_count, far_count, frequent, std::min(count.lowest, nearest >> 10)};
}

void ScanScalar(std::span<const float> values, const OctaveWindow& window, ExtremeLanes& extremes,
                uint16_t* near, float* far, SplitValues& count) {
  count = {};
  ScanRest(values, window, extremes, near, far, count);
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

[[gnu::target("avx2,popcnt")]] void ScanAvx2(std::span<const float> values,
                                             const OctaveWindow& window, ExtremeLanes& extremes,
                                             uint16_t* near, float* far, SplitValues& found) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i first = _mm256_set1_epi32(static_cast<int>(window.first << 10));
  const __m256i last_bin = _mm256_set1_epi32(static_cast<int>(kBinsOfSign - 1));
  const __m256i first_bin = _mm256_set1_epi32(static_cast<int>(kFirstBin));
  const __m256i frequent = _mm256_set1_epi32(static_cast<int>(window.frequent));
  __m256i nearest = _mm256_set1_epi32(static_cast<int>(kBinsOfSign));
  __m256 low = _mm256_load_ps(extremes.low.data()), high = _mm256_load_ps(extremes.high.data());
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
    nearest = _mm256_min_epu32(nearest, bin);
    const __m256i is_near = _mm256_cmpeq_epi32(_mm256_min_epu32(bin, last_bin), bin);
    const __m256i sign =
        _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(static_cast<int>(kSign)));
    const __m256i number = _mm256_or_si256(_mm256_add_epi32(bin, first_bin), sign);
    const auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_near)));
    const auto same = mask & static_cast<unsigned>(_mm256_movemask_ps(
                                 _mm256_castsi256_ps(_mm256_cmpeq_epi32(number, frequent))));
    const __m256i packed = PackLanes(number, mask & ~same);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(near + count.near),
        _mm_packus_epi32(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1)));
    count.near += static_cast<size_t>(_mm_popcnt_u32(mask & ~same));
    count.frequent += static_cast<size_t>(_mm_popcnt_u32(same));
    const __m256i is_far = _mm256_or_si256(is_near, _mm256_cmpeq_epi32(magnitude, zero));
    const auto others = ~static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_far)));
    if ((others & 255u) != 0) [[unlikely]] {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(far + count.far),
                          PackLanes(bits, others & 255u));
      count.far += static_cast<size_t>(_mm_popcnt_u32(others & 255u));
    }
  }
  _mm256_store_ps(extremes.low.data(), low);
  _mm256_store_ps(extremes.high.data(), high);
  alignas(32) std::array<uint32_t, 8> least;
  _mm256_store_si256(reinterpret_cast<__m256i*>(least.data()), nearest);
  count.lowest = *std::min_element(least.begin(), least.end()) >> 10;
  found = count;
  if (whole < values.size()) ScanRest(values.subspan(whole), window, extremes, near, far, found);
}

[[gnu::target("avx512f,popcnt")]] void ScanAvx512(std::span<const float> values,
                                                  const OctaveWindow& window,
                                                  ExtremeLanes& extremes, uint16_t* near,
                                                  float* far, SplitValues& found) {
  const __m512i first = _mm512_set1_epi32(static_cast<int>(window.first << 10));
  const __m512i bins_of_sign = _mm512_set1_epi32(static_cast<int>(kBinsOfSign));
  const __m512i first_bin = _mm512_set1_epi32(static_cast<int>(kFirstBin));
  const __m512i frequent = _mm512_set1_epi32(static_cast<int>(window.frequent));
  __m512i nearest = bins_of_sign;
  __m512 low = _mm512_load_ps(extremes.low.data()), high = _mm512_load_ps(extremes.high.data());
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
    nearest = _mm512_min_epu32(nearest, bin);
    const __mmask16 is_near = _mm512_cmplt_epu32_mask(bin, bins_of_sign);
    const __m512i sign =
        _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(static_cast<int>(kSign)));
    const __m512i number = _mm512_or_si512(_mm512_add_epi32(bin, first_bin), sign);
    const __mmask16 same = _mm512_mask_cmpeq_epi32_mask(is_near, number, frequent);
    const __mmask16 written = is_near & ~same;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(near + count.near),
                        _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(written, number)));
    count.near += static_cast<size_t>(_mm_popcnt_u32(written));
    count.frequent += static_cast<size_t>(_mm_popcnt_u32(same));
    const __mmask16 is_far = _mm512_test_epi32_mask(magnitude, magnitude) & ~is_near;
    if (is_far != 0) [[unlikely]] {
      _mm512_storeu_si512(far + count.far, _mm512_maskz_compress_epi32(is_far, bits));
      count.far += static_cast<size_t>(_mm_popcnt_u32(is_far));
    }
  }
  _mm512_store_ps(extremes.low.data(), low);
  _mm512_store_ps(extremes.high.data(), high);
  count.lowest = _mm512_reduce_min_epu32(nearest) >> 10;
  found = count;
  if (whole < values.size()) ScanRest(values.subspan(whole), window, extremes, near, far, found);
}

#define RSHIFT_SCAN_HALVES "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt"

// 16 values as halves, rounded toward zero.
[[gnu::target(RSHIFT_SCAN_HALVES)]] inline __m256i Halves(__m512 x) {
  return _mm512_cvtps_ph(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

// The conversion to halves makes the bin numbers, once the first octave has their least exponent.
// Only values that are not zero are looked at further, as if all lay in the window; where one does
// not, which is seen in the end, everything is done again.
template <bool kHasFrequent>
[[gnu::target(RSHIFT_SCAN_HALVES)]] void ScanHalvesOf(std::span<const float> values,
                                                      const OctaveWindow& window,
                                                      ExtremeLanes& extremes, uint16_t* near,
                                                      float* far, SplitValues& found) {
  const __m512 scale = _mm512_set1_ps(std::bit_cast<float>((127 + 113 - window.first) << 23));
  const __m512i first = _mm512_set1_epi16(static_cast<int16_t>(2 * kFirstBin));
  const __m512i frequent = _mm512_set1_epi16(static_cast<int16_t>(window.frequent));
  const __m512i magnitude = _mm512_set1_epi32(kMagnitude);
  __m512 low = _mm512_load_ps(extremes.low.data()), high = _mm512_load_ps(extremes.high.data());
  // Of twice the bin of the magnitude, from the first on; below it, it wraps around and is large.
  __m512i farthest = _mm512_setzero_si512();
  __m512i nearest = _mm512_set1_epi16(static_cast<int16_t>(2 * kBinsOfSign));
  const size_t whole = values.size() / 32 * 32;
  SplitValues count;
  for (size_t i = 0; i < whole; i += 32) {
    __builtin_prefetch(values.data() + i + kAhead);
    __builtin_prefetch(values.data() + i + kAhead + 16);
    const __m512 a = _mm512_loadu_ps(values.data() + i),
                 b = _mm512_loadu_ps(values.data() + i + 16);
    low = _mm512_min_ps(a, low);  // a NaN in a gives the second operand
    high = _mm512_max_ps(a, high);
    low = _mm512_min_ps(b, low);
    high = _mm512_max_ps(b, high);
    const __m512i number =
        _mm512_inserti64x4(_mm512_castsi256_si512(Halves(_mm512_mul_ps(a, scale))),
                           Halves(_mm512_mul_ps(b, scale)), 1);
    __mmask32 written = _mm512_kunpackw(_mm512_test_epi32_mask(_mm512_castps_si512(b), magnitude),
                                        _mm512_test_epi32_mask(_mm512_castps_si512(a), magnitude));
    const __m512i distance = _mm512_sub_epi16(_mm512_add_epi16(number, number), first);
    farthest = _mm512_mask_max_epu16(farthest, written, farthest, distance);
    nearest = _mm512_min_epu16(nearest, distance);
    if (kHasFrequent) {
      const __mmask32 same = _mm512_mask_cmpeq_epi16_mask(written, number, frequent);
      written &= ~same;
      count.frequent += static_cast<size_t>(_mm_popcnt_u32(same));
    }
    _mm512_storeu_si512(near + count.near, _mm512_maskz_compress_epi16(written, number));
    count.near += static_cast<size_t>(_mm_popcnt_u32(written));
  }
  const __m512i beyond = _mm512_set1_epi16(static_cast<int16_t>(2 * kBinsOfSign - 1));
  if (_mm512_cmpgt_epu16_mask(farthest, beyond) != 0) [[unlikely]]
    return ScanAvx512(values, window, extremes, near, far, found);
  _mm512_store_ps(extremes.low.data(), low);
  _mm512_store_ps(extremes.high.data(), high);
  const __m512i least = _mm512_min_epu32(_mm512_and_si512(nearest, _mm512_set1_epi32(0xffff)),
                                         _mm512_srli_epi32(nearest, 16));
  count.lowest = _mm512_reduce_min_epu32(least) >> 11;
  found = count;
  if (whole < values.size()) ScanRest(values.subspan(whole), window, extremes, near, far, found);
}

void ScanHalves(std::span<const float> values, const OctaveWindow& window, ExtremeLanes& extremes,
                uint16_t* near, float* far, SplitValues& found) {
  if (window.first == OctaveWindow::kNothing)
    return ScanAvx512(values, window, extremes, near, far, found);
  if (window.frequent == OctaveWindow::kBins)
    return ScanHalvesOf<false>(values, window, extremes, near, far, found);
  return ScanHalvesOf<true>(values, window, extremes, near, far, found);
}

#endif

}  // namespace

std::vector<ScanFunction> ScanForms() {
  std::vector<ScanFunction> forms{ScanScalar};
#ifdef __x86_64__
  const bool has_popcnt = __builtin_cpu_supports("popcnt") != 0;
  if (has_popcnt && __builtin_cpu_supports("avx2") != 0) forms.push_back(ScanAvx2);
  if (has_popcnt && __builtin_cpu_supports("avx512f") != 0) forms.push_back(ScanAvx512);
  if (has_popcnt && __builtin_cpu_supports("avx512vbmi2") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
    forms.push_back(ScanHalves);
  }
#endif
  return forms;
}

void ScanValues(std::span<const float> values, const OctaveWindow& window, ExtremeLanes& extremes,
                uint16_t* near, float* far, SplitValues& count) {
  static const ScanFunction scan = ScanForms().back();
  scan(values, window, extremes, near, far, count);
}

ExtremeLanes::ExtremeLanes() { Forget(); }

void ExtremeLanes::Forget() {
  low.fill(Extremes().low);
  high.fill(Extremes().high);
}

Extremes ExtremeLanes::Join() const {
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
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
