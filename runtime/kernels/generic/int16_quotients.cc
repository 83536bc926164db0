#include "runtime/kernels/generic/int16_quotients.h"

#include "runtime/kernels/generic/int16_lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

// floor(v / 2^rshift) of 64 bits, the lower 32 of which count: a logical shift by at most 32, then
// an arithmetic one of 32 bits.
#define RSHIFT_QUOTIENTS(Lanes, features)                                                          \
  struct Lanes##Quotient {                                                                         \
    using V = Lanes::V;                                                                            \
    V half, zero, lo, hi;                                                                          \
    __m128i first, rest, left;                                                                     \
    [[gnu::target(features),                                                                       \
      gnu::always_inline]] inline explicit Lanes##Quotient(const S16Quotient& by)                  \
        : half(Lanes::AllWide((int64_t{1} << by.rshift) >> 1)),                                    \
          zero(Lanes::All(by.bounds.zero)),                                                        \
          lo(Lanes::All(by.bounds.lo - by.bounds.zero)),                                           \
          hi(Lanes::All(by.bounds.hi - by.bounds.zero)),                                           \
          first(_mm_cvtsi32_si128(by.rshift < 32 ? by.rshift : 32)),                               \
          rest(_mm_cvtsi32_si128(by.rshift < 32 ? 0 : by.rshift - 32)),                            \
          left(_mm_cvtsi32_si128(by.rshift < 32 ? 32 - by.rshift : 0)) {}                          \
    [[gnu::target(features), gnu::always_inline]] inline V operator()(V even, V odd) const {       \
      const V low = Lanes::RightWide(Lanes::AddWide(even, half), first);                           \
      const V high = Lanes::LeftWide(Lanes::AddWide(odd, half), left);                             \
      const V quotient = Lanes::Right(Lanes::EvenAndOdd(low, high), rest);                         \
      return Lanes::Add(Lanes::Hold(quotient, lo, hi), zero);                                      \
    }                                                                                              \
  };                                                                                               \
  [[gnu::target(features)]] int64_t Lanes##Sums(const int32_t* a, const int32_t* b, int64_t n,     \
                                                int32_t multiplier_a, int32_t multiplier_b,        \
                                                const S16Quotient& by, int32_t* y) noexcept {      \
    using V = Lanes::V;                                                                            \
    const Lanes##Quotient quotient(by);                                                            \
    const V m = Lanes::All(multiplier_a), m_b = Lanes::All(multiplier_b);                          \
    int64_t i = 0;                                                                                 \
    for (; i + Lanes::kCount <= n; i += Lanes::kCount) {                                           \
      const V v = Lanes::Load(a + i), w = Lanes::Load(b + i);                                      \
      const V even = Lanes::AddWide(Lanes::Even(v, m), Lanes::Even(w, m_b));                       \
      const V odd = Lanes::AddWide(Lanes::Even(Lanes::OddToEven(v), m),                            \
                                   Lanes::Even(Lanes::OddToEven(w), m_b));                         \
      Lanes::Store(y + i, quotient(even, odd));                                                    \
    }                                                                                              \
    return i;                                                                                      \
  }                                                                                                \
  [[gnu::target(features)]] int64_t Lanes##Products(const int32_t* a, const int32_t* b, int64_t n, \
                                                    int32_t multiplier, const S16Quotient& by,     \
                                                    int32_t* y) noexcept {                         \
    using V = Lanes::V;                                                                            \
    const Lanes##Quotient quotient(by);                                                            \
    const V m = Lanes::All(multiplier);                                                            \
    int64_t i = 0;                                                                                 \
    for (; i + Lanes::kCount <= n; i += Lanes::kCount) {                                           \
      V v = Lanes::Load(a + i);                                                                    \
      if (b != nullptr) v = Lanes::Product(v, Lanes::Load(b + i));                                 \
      const V even = Lanes::Even(v, m), odd = Lanes::Even(Lanes::OddToEven(v), m);                 \
      Lanes::Store(y + i, quotient(even, odd));                                                    \
    }                                                                                              \
    return i;                                                                                      \
  }
RSHIFT_QUOTIENTS(Avx2Lanes, "avx2")
RSHIFT_QUOTIENTS(Avx512Lanes, "avx512f")
#undef RSHIFT_QUOTIENTS

}  // namespace

int64_t SumQuotientsAvx2(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier_a,
                         int32_t multiplier_b, const S16Quotient& by, int32_t* y) noexcept {
  return Avx2LanesSums(a, b, n, multiplier_a, multiplier_b, by, y);
}
int64_t SumQuotientsAvx512(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier_a,
                           int32_t multiplier_b, const S16Quotient& by, int32_t* y) noexcept {
  return Avx512LanesSums(a, b, n, multiplier_a, multiplier_b, by, y);
}
int64_t ProductQuotientsAvx2(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier,
                             const S16Quotient& by, int32_t* y) noexcept {
  return Avx2LanesProducts(a, b, n, multiplier, by, y);
}
int64_t ProductQuotientsAvx512(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier,
                               const S16Quotient& by, int32_t* y) noexcept {
  return Avx512LanesProducts(a, b, n, multiplier, by, y);
}

}  // namespace rshift
#endif
