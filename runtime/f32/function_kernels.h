// Functions of one element (row_kernels.h), for the units of the instruction sets: within 4 units
// in the last place of the exact value, exponentials below 2^-125 being 0; Gelu's within 2^-22 of x
// where x is negative. NaN gives NaN.
#ifndef RSHIFT_RUNTIME_F32_FUNCTION_KERNELS_H_
#define RSHIFT_RUNTIME_F32_FUNCTION_KERNELS_H_

#include "runtime/f32/exponential.h"

namespace rshift::f32 {
namespace {

RSHIFT_INLINE WideInts Bits(const WideFloats& x) { return reinterpret_cast<WideInts>(x); }
RSHIFT_INLINE WideFloats OfBits(const WideInts& x) { return reinterpret_cast<WideFloats>(x); }
RSHIFT_INLINE WideFloats MinusAbs(const WideFloats& x) { return OfBits(Bits(x) | INT32_MIN); }

// x = r + n log(2), power = 2^n.
struct Split {
  WideFloats r, power;
};
// x in [-87.3, 0], or NaN: r is NaN then.
RSHIFT_INLINE Split SplitLog(const WideFloats& x) {
  constexpr float kRound = 12582912.0f + 127;  // leaves n with a float's bias in the last bits
  const WideFloats shifted = x * 1.44269504f + kRound, n = shifted - kRound;
  return {(x - n * 0.693359375f) - n * -2.12194440e-4f, OfBits(Bits(shifted) << 23)};
}

// exp(x) for x <= 0; 0 below -87.3, where it is hardly above 2^-126.
RSHIFT_INLINE WideFloats ExpOf(const WideFloats& x) {
  constexpr float kLeast = -87.3f;
  const Split s = SplitLog(x);  // of lower ones it is any number
  return OfBits(Bits(ExpNearZero(s.r) * s.power) & ~(x < kLeast));
}

// exp(x) - 1 for x <= 0.
RSHIFT_INLINE WideFloats Expm1Of(const WideFloats& x) {
  const Split s = SplitLog(WideMax(AllWide(-20.0f), x));
  return s.power * Expm1NearZero(s.r) + (s.power - 1.0f);
}

// exp(x) for x in [-20, 0].
RSHIFT_INLINE WideFloats NearExpOf(const WideFloats& x) {
  const Split s = SplitLog(x);
  return ExpNearZero(s.r) * s.power;
}

RSHIFT_INLINE WideFloats LogisticOf(const WideFloats& x) {
  const WideFloats e = ExpOf(MinusAbs(x));
  return (x < 0.0f ? e : AllWide(1.0f)) / (1.0f + e);
}

// (1 - e) / (1 + e), e = exp(-2 |x|), with the sign of x.
RSHIFT_INLINE WideFloats TanhOf(const WideFloats& x) {
  const WideFloats e = Expm1Of(MinusAbs(x) * 2.0f);
  const WideFloats size = (WideFloats{} - e) / (2.0f + e);
  return OfBits(Bits(size) | (Bits(x) & INT32_MIN));
}

// x tanh(log(1 + exp(x))) by e = exp(-|x|): a square less of what cancels.
RSHIFT_INLINE WideFloats MishOf(const WideFloats& x) {
  const WideFloats e = ExpOf(MinusAbs(x)), twice = e + e;
  const auto negative = x < 0.0f;
  const WideFloats above = negative ? e * e + twice : 1.0f + twice;
  return x * (above / (above + (negative ? AllWide(2.0f) : twice * e)));
}

// erf(|x|) and 1 - erf(|x|). Polynomials: N. Juffa, "A fast error function" (2018).
struct ErrorFunction {
  WideFloats value, rest;
};
RSHIFT_INLINE ErrorFunction ErfOf(const WideFloats& size) {
  constexpr float kOne = 4.0f;  // from there on the value is 1
  const WideFloats t = WideMin(AllWide(kOne), size), s = t * t;
  WideFloats near = -5.96761703e-4f * s + 4.99119423e-3f;
  near = near * s + -2.67681349e-2f;
  near = near * s + 1.12819925e-1f;
  near = near * s + -3.76125336e-1f;
  near = near * s + 1.28379166e-1f;
  near = near * t + t;
  WideFloats far = -1.72853470e-5f * t + 3.83197126e-4f;
  far = far * s + (-3.88396438e-3f * t + 2.42546219e-2f);
  far = far * t + -1.06777877e-1f;
  far = far * t + -6.34846687e-1f;
  far = far * t + -1.28717512e-1f;
  far = far * t - t;
  const WideFloats rest = OfBits(Bits(NearExpOf(far)) & ~(size >= kOne));
  const auto is_far = t > 0.927734375f;
  return {is_far ? 1.0f - rest : near, is_far ? rest : 1.0f - near};
}

RSHIFT_INLINE WideFloats Gelu(const WideFloats& x) {
  const ErrorFunction erf = ErfOf(OfBits(Bits(x * 0.70710678118654752f) & INT32_MAX));
  return 0.5f * x * (x < 0.0f ? erf.rest : 1.0f + erf.value);
}

RSHIFT_INLINE WideFloats GeluByTanh(const WideFloats& x) {
  // (1 + tanh(u)) / 2 is the logistic function of 2 u.
  return x * LogisticOf(1.5957691216057308f * (x + 0.044715f * x * x * x));
}

RSHIFT_INLINE WideFloats UnitOf(const WideFloats& x) {
  return WideMin(AllWide(1.0f), WideMax(WideFloats{}, x));
}

// y[i] = f(x[i]), four registers at a time; y may be x.
template <typename F>
RSHIFT_INLINE void Each(const float* x, float* y, int64_t n, const F& f) {
  const auto span = [&](const float* from, float* to) RSHIFT_INLINE_LAMBDA {
    EachPart([&](int p) RSHIFT_INLINE_LAMBDA {
      const WideFloats value = f(LoadPart<WideFloats>(from + kSpan / 4 * p));
      std::memcpy(to + kSpan / 4 * p, &value, sizeof value);
    });
  };
  int64_t i = 0;
  for (; i + kSpan <= n; i += kSpan) span(x + i, y + i);
  if (i == n) return;
  float rest[kSpan] = {};
  for (int64_t k = 0; k < n - i; ++k) rest[k] = x[i + k];
  span(rest, rest);
  for (int64_t k = 0; k < n - i; ++k) y[i + k] = rest[k];
}

#define RSHIFT_FUNCTION(name, formula)                                                     \
  void name(const float* from, float* to, int64_t n, [[maybe_unused]] float alpha,         \
            [[maybe_unused]] float beta) noexcept {                                        \
    Each(from, to, n,                                                                      \
         [=](const WideFloats& x) RSHIFT_INLINE_LAMBDA -> WideFloats { return formula; }); \
  }
RSHIFT_FUNCTION(RowSigmoid, LogisticOf(x))
RSHIFT_FUNCTION(RowTanh, TanhOf(x))
RSHIFT_FUNCTION(RowSilu, x* LogisticOf(x))
RSHIFT_FUNCTION(RowMish, MishOf(x))
RSHIFT_FUNCTION(RowErf,
                OfBits(Bits(ErfOf(OfBits(Bits(x) & INT32_MAX)).value) | (Bits(x) & INT32_MIN)))
RSHIFT_FUNCTION(RowGelu, Gelu(x))
RSHIFT_FUNCTION(RowGeluTanh, GeluByTanh(x))
RSHIFT_FUNCTION(RowElu, beta*(x > 0.0f ? x : alpha * Expm1Of(WideMin(WideFloats{}, x))))
RSHIFT_FUNCTION(RowHardSigmoid, UnitOf(alpha* x + beta))
RSHIFT_FUNCTION(RowHardSwish, x* UnitOf(x*(1.0f / 6) + 0.5f))
RSHIFT_FUNCTION(RowLeakyRelu, x < 0.0f ? x * alpha : x)
RSHIFT_FUNCTION(RowClip, WideMin(AllWide(beta), WideMax(AllWide(alpha), x)))
#undef RSHIFT_FUNCTION

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_FUNCTION_KERNELS_H_
