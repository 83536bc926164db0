#include "runtime/kernels/generic/int16_lines.h"

#include <cstring>

#include "quantize/numerics/int16.h"
#include "runtime/kernels/generic/int16_lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

constexpr int64_t kBlock = 64;

// Two neighbours from each place on, one place after the other.
[[gnu::always_inline]] inline void CopyPairs(const int32_t* tables, const int32_t* at, int64_t n,
                                             int64_t* pairs) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) {
    __asm__("" ::: "memory");  // no gathers
    std::memcpy(&pairs[i], tables + at[i], sizeof pairs[i]);
  }
}

// A line is within 2^31 2^step_bits and its number, at most 23 bits, the lower half of what a
// logical shift leaves of it.
#define RSHIFT_LINES(name, Lanes, features)                                                        \
  struct name {                                                                                    \
    using L = Lanes;                                                                               \
    using V = L::V;                                                                                \
    V half;                                                                                        \
    __m128i shift;                                                                                 \
    [[gnu::target(features), gnu::always_inline]] V Of(V pairs, V rest, V part) const {            \
      const V line = L::AddWide(L::Even(pairs, rest), L::Even(L::OddToEven(pairs), part));         \
      return L::RightWide(L::AddWide(line, half), shift);                                          \
    }                                                                                              \
    [[gnu::target(features)]] static int64_t Run(const int32_t* tables, const uint8_t* table_of,   \
                                                 int32_t step_bits, const int32_t* v, int64_t n,   \
                                                 const S16Bounds& bounds, int32_t* y) noexcept {   \
      const int32_t bits = step_bits + numerics::kTableFractionBits;                               \
      const name lines = {L::AllWide((int64_t{1} << bits) >> 1), _mm_cvtsi32_si128(bits)};         \
      const __m128i step = _mm_cvtsi32_si128(step_bits);                                           \
      const V lowest = L::All(32768), mask = L::All((1 << step_bits) - 1);                         \
      const V whole = L::All(1 << step_bits),                                                      \
              entries = L::All(numerics::TableSteps(step_bits) + 1);                               \
      const V lo = L::All(bounds.lo - bounds.zero), hi = L::All(bounds.hi - bounds.zero);          \
      const V zero = L::All(bounds.zero);                                                          \
      const int64_t all = n / L::kCount * L::kCount;                                               \
      for (int64_t begin = 0; begin < all; begin += kBlock) {                                      \
        const int64_t end = begin + kBlock < all ? begin + kBlock : all;                           \
        alignas(64) int32_t at[kBlock];                                                            \
        alignas(64) int64_t pairs[kBlock];                                                         \
        for (int64_t i = begin; i < end; i += L::kCount) {                                         \
          V first = L::RightLogical(L::Add(L::Load(v + i), lowest), step);                         \
          if (table_of != nullptr)                                                                 \
            first = L::Add(first, L::Product(entries, L::LoadBytes(table_of + i)));                \
          L::Store(at + (i - begin), first);                                                       \
        }                                                                                          \
        CopyPairs(tables, at, end - begin, pairs);                                                 \
        for (int64_t i = begin; i < end; i += L::kCount) {                                         \
          const V part = L::And(L::Add(L::Load(v + i), lowest), mask), rest = L::Sub(whole, part); \
          const int64_t* of = pairs + (i - begin);                                                 \
          const V low = lines.Of(L::LoadWide(of), L::WideLow(rest), L::WideLow(part));             \
          const V high =                                                                           \
              lines.Of(L::LoadWide(of + L::kCount / 2), L::WideHigh(rest), L::WideHigh(part));     \
          L::Store(y + i, L::Add(L::Hold(L::LowerHalves(low, high), lo, hi), zero));               \
        }                                                                                          \
      }                                                                                            \
      return all;                                                                                  \
    }                                                                                              \
  }

RSHIFT_LINES(Avx2Lines, Avx2Lanes, "avx2");
RSHIFT_LINES(Avx512Lines, Avx512Lanes, "avx512f");

}  // namespace

int64_t LinesAvx2(const int32_t* tables, const uint8_t* table_of, int32_t step_bits,
                  const int32_t* v, int64_t n, const S16Bounds& bounds, int32_t* y) noexcept {
  return Avx2Lines::Run(tables, table_of, step_bits, v, n, bounds, y);
}

int64_t LinesAvx512(const int32_t* tables, const uint8_t* table_of, int32_t step_bits,
                    const int32_t* v, int64_t n, const S16Bounds& bounds, int32_t* y) noexcept {
  return Avx512Lines::Run(tables, table_of, step_bits, v, n, bounds, y);
}

}  // namespace rshift
#endif
