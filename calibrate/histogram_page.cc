#include "calibrate/histogram_page.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace rshift {
namespace {

constexpr size_t kLine = 16;  // counts in a line of the caches

bool IsZero(const uint32_t* line) {
  uint32_t any = 0;
#pragma omp simd reduction(| : any)
  for (size_t i = 0; i < kLine; ++i) any |= line[i];
  return any == 0;
}

// Adds one page to another and leaves zeros. Lines of zeros are left alone: small magnitudes are
// rare, and the other page may be in memory.
template <typename Count>
void MovePortable(uint32_t* __restrict from, Count* __restrict to) {
  for (size_t line = 0; line < HistogramPage::kBins; line += kLine) {
    if (IsZero(from + line)) continue;
    for (size_t i = line; i < line + kLine; ++i) {
      to[i] += from[i];
      from[i] = 0;
    }
  }
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void MoveAvx2(uint32_t* __restrict from, uint32_t* __restrict to) {
  for (size_t line = 0; line < HistogramPage::kBins; line += kLine) {
    auto* source = reinterpret_cast<__m256i*>(from + line);
    const __m256i low = _mm256_loadu_si256(source), high = _mm256_loadu_si256(source + 1);
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any) != 0) continue;
    auto* sum = reinterpret_cast<__m256i*>(to + line);
    _mm256_storeu_si256(sum, _mm256_add_epi32(_mm256_loadu_si256(sum), low));
    _mm256_storeu_si256(sum + 1, _mm256_add_epi32(_mm256_loadu_si256(sum + 1), high));
    _mm256_storeu_si256(source, _mm256_setzero_si256());
    _mm256_storeu_si256(source + 1, _mm256_setzero_si256());
  }
}
[[gnu::target("avx2")]] bool IsZeroPageAvx2(const uint32_t* counts) {
  __m256i any = _mm256_setzero_si256();
  for (size_t i = 0; i < HistogramPage::kBins; i += 8)
    any = _mm256_or_si256(any, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(counts + i)));
  return _mm256_testz_si256(any, any) != 0;
}

bool HasAvx2() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2;
}
#endif

void MoveCounts(uint32_t* from, uint32_t* to) {
#ifdef __x86_64__
  if (HasAvx2()) return MoveAvx2(from, to);
#endif
  MovePortable(from, to);
}

}  // namespace

uint32_t* HistogramPage::Open(uint32_t most) {
  if (wide_.empty() && bound_ + most > kMostNarrow) {
    bound_ = *std::max_element(narrow_.begin(), narrow_.end());
    if (bound_ + most > kMostNarrow) Widen();
  }
  if (!wide_.empty()) return nullptr;
  bound_ += most;
  return narrow_.data();
}

void HistogramPage::Take(std::span<uint32_t, kBins> counts, uint32_t most) {
  if (uint32_t* narrow = Open(most))
    MoveCounts(counts.data(), narrow);
  else
    MovePortable(counts.data(), wide_.data());
}

void HistogramPage::Widen() {
  wide_.assign(narrow_.begin(), narrow_.end());
  narrow_ = std::vector<uint32_t>();  // {} would keep its memory
}

bool IsZeroPage(std::span<const uint32_t, HistogramPage::kBins> counts) {
#ifdef __x86_64__
  if (HasAvx2()) return IsZeroPageAvx2(counts.data());
#endif
  for (size_t line = 0; line < counts.size(); line += kLine) {
    if (!IsZero(counts.data() + line)) return false;
  }
  return true;
}

}  // namespace rshift
