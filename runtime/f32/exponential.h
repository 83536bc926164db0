// exp of floats that are not above 0 (nor above 43): less than 1 unit in the last place off the
// exact value, 1 for 0, 0 below -103.97, NaN for NaN.
#ifndef RSHIFT_RUNTIME_F32_EXPONENTIAL_H_
#define RSHIFT_RUNTIME_F32_EXPONENTIAL_H_

#include "runtime/f32/fused_product.h"

namespace rshift::f32 {
namespace {

// Four registers side by side: one alone would wait for itself, operation after operation.
struct Span {
  WideFloats part[4];
};
constexpr int64_t kSpan = kWide;  // elements: 4 registers of kWide / 4
constexpr float kZeroBelow = -103.972084f;

constexpr int kUnrolled = kIsFused ? 4 : 1;  // slow anyway: little code

template <typename F>
RSHIFT_INLINE void EachPart(const F& f) {
#pragma GCC unroll kUnrolled
  for (int p = 0; p < 4; ++p) f(p);
}

// exp(r) - 1 for |r| <= log(2) / 2: r + r^2 * a polynomial of degree 5 (Cephes, expf), in pairs of
// coefficients, which wait less for each other. Of one register or more.
template <typename V>
RSHIFT_INLINE V Expm1NearZero(const V& r) {
  const V square = r * r;
  const V a = MultiplyAdd(r, 1.9875691500e-4f, 1.3981999507e-3f);
  const V b = MultiplyAdd(r, 8.3334519073e-3f, 4.1665795894e-2f);
  const V c = MultiplyAdd(r, 1.6666665459e-1f, 5.0000001201e-1f);
  return MultiplyAdd(MultiplyAdd(MultiplyAdd(a, square, b), square, c), square, r);
}
template <typename V>
RSHIFT_INLINE V ExpNearZero(const V& r) {
  return Expm1NearZero(r) + 1.0f;
}

// y * 2^n, a normal number; `power` has the bits of 2^n.
RSHIFT_INLINE WideFloats TimesPower(const WideFloats& y, [[maybe_unused]] const WideFloats& n,
                                    [[maybe_unused]] const WideInts& power) {
#if defined(__AVX512F__)
  return _mm512_scalef_ps(y, n);
#else
  return y * reinterpret_cast<WideFloats>(power);
#endif
}

RSHIFT_INLINE bool AnySign(const WideInts& x) {
#if defined(__AVX512F__)
  return _mm512_cmplt_epi32_mask(reinterpret_cast<__m512i>(x), _mm512_setzero_si512()) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps(reinterpret_cast<__m256>(x)) != 0;
#else
  int32_t lane[kWide / 4], all = 0;
  std::memcpy(lane, &x, sizeof lane);
  for (const int32_t word : lane) all |= word;
  return all < 0;
#endif
}

// exp(x) = exp(x - n log(2)) 2^n, n being the integer next to x / log(2). kAll: some may be so
// small that 2^n is no normal number, or a NaN; where none is, the same with two operations less.
template <bool kAll>
RSHIFT_INLINE void ExpSpanOf(const Span& from, float* to) {
  Span r, whole;
  WideInts exponent[4];
  EachPart([&](int p) RSHIFT_INLINE_LAMBDA {
    WideFloats x = from.part[p];
    // Less than half of the least denormal: 1 times 0, for a multiplication that underflows takes
    // three times as long.
    const WideInts some = ~(x < kZeroBelow);
    if (kAll) x = reinterpret_cast<WideFloats>(reinterpret_cast<WideInts>(x) & some);
    // Beside 1.5 * 2^23 the floats are the integers: adding it rounds, and leaves n in the last
    // bits, here with the bias of a float's exponent and, with kAll, 64.
    constexpr float kRound = 12582912.0f + 127 + (kAll ? 64 : 0);
    const WideFloats shifted = MultiplyAdd(x, 1.44269504f, kRound);
    const WideFloats n = shifted - kRound;
    whole.part[p] = n;
    exponent[p] = reinterpret_cast<WideInts>(shifted) << 23;
    if (kAll) exponent[p] &= some;
    // log(2) in two parts: the first has 10 bits, so that its product with n is exact.
    r.part[p] = MultiplyAdd(n, 2.12194440e-4f, MultiplyAdd(n, -0.693359375f, x));
  });
  Span y;
  EachPart([&](int p) RSHIFT_INLINE_LAMBDA { y.part[p] = ExpNearZero(r.part[p]); });
  EachPart([&](int p) RSHIFT_INLINE_LAMBDA {
    WideFloats power = kAll ? y.part[p] * reinterpret_cast<WideFloats>(exponent[p])
                            : TimesPower(y.part[p], whole.part[p], exponent[p]);
    // 2^(n + 64), then 2^-64: 2^n may be a denormal, which the bits of an exponent cannot say.
    if (kAll) power = power * 0x1p-64f;
    std::memcpy(to + kSpan / 4 * p, &power, sizeof power);
  });
}

RSHIFT_INLINE void ExpSpan(const float* from, float* to) {
  constexpr float kNormal = -87.0f;
  Span x;
  WideInts small = {};
  EachPart([&](int p) RSHIFT_INLINE_LAMBDA {
    x.part[p] = LoadPart<WideFloats>(from + kSpan / 4 * p);
    small |= ~(x.part[p] >= kNormal);
  });
  if (AnySign(small)) return ExpSpanOf<true>(x, to);
  ExpSpanOf<false>(x, to);
}

// y[i] = exp(x[i]) for x[i] <= 0; y may be x.
void Exponentials(const float* x, float* y, int64_t n) noexcept {
  int64_t i = 0;
  for (; i + kSpan <= n; i += kSpan) ExpSpan(x + i, y + i);
  if (i == n) return;
  float rest[kSpan] = {};
  for (int64_t k = 0; k < n - i; ++k) rest[k] = x[i + k];
  ExpSpan(rest, rest);
  for (int64_t k = 0; k < n - i; ++k) y[i + k] = rest[k];
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_EXPONENTIAL_H_
