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

// Two registers side by side, operation by operation: of a long function that is one chain the
// scheduler holds too little to begin the next register before the first is done.
struct Pair {
  WideFloats a, b;
};
#define RSHIFT_PAIR_OPERATOR(op)                                                          \
  RSHIFT_INLINE Pair operator op(const Pair& x, const Pair& y) {                          \
    return {x.a op y.a, x.b op y.b};                                                      \
  }                                                                                       \
  RSHIFT_INLINE Pair operator op(const Pair& x, float y) { return {x.a op y, x.b op y}; } \
  RSHIFT_INLINE Pair operator op(float x, const Pair& y) { return {x op y.a, x op y.b}; }
RSHIFT_PAIR_OPERATOR(+)
RSHIFT_PAIR_OPERATOR(-)
RSHIFT_PAIR_OPERATOR(*)
RSHIFT_PAIR_OPERATOR(/)
#undef RSHIFT_PAIR_OPERATOR

RSHIFT_INLINE Pair PairOf(const Pair& x) { return x; }
RSHIFT_INLINE Pair PairOf(float x) { return {AllWide(x), AllWide(x)}; }
template <typename Y, typename Z>
RSHIFT_INLINE Pair MultiplyAdd(const Pair& x, const Y& y, const Z& z) {
  const Pair factor = PairOf(y), sum = PairOf(z);
  return {MultiplyAdd(x.a, factor.a, sum.a), MultiplyAdd(x.b, factor.b, sum.b)};
}

// f of each register of one or two.
template <typename F, typename... Ts>
RSHIFT_INLINE WideFloats EachOf(const F& f, const WideFloats& x, const Ts&... y) {
  return f(x, y...);
}
template <typename F, typename... Ts>
RSHIFT_INLINE Pair EachOf(const F& f, const Pair& x, const Ts&... y) {
  return {f(x.a, y.a...), f(x.b, y.b...)};
}

// x = r + n log(2), power = 2^n.
template <typename V>
struct Split {
  V r, power;
};
// x in [-87.3, 0], or NaN: r is NaN then.
template <typename V>
RSHIFT_INLINE Split<V> SplitLog(const V& x) {
  constexpr float kRound = 12582912.0f + 127;  // leaves n with a float's bias in the last bits
  const V shifted = MultiplyAdd(x, 1.44269504f, kRound), n = shifted - kRound;
  const V power = EachOf(
      [](const WideFloats& p) RSHIFT_INLINE_LAMBDA { return OfBits(Bits(p) << 23); }, shifted);
  return {MultiplyAdd(n, 2.12194440e-4f, MultiplyAdd(n, -0.693359375f, x)), power};
}

// exp(x) for x <= 0; 0 below -87.3, where it is hardly above 2^-126.
RSHIFT_INLINE WideFloats ExpOf(const WideFloats& x) {
  constexpr float kLeast = -87.3f;
  const auto s = SplitLog(x);  // of lower ones it is any number
  return OfBits(Bits(ExpNearZero(s.r) * s.power) & ~(x < kLeast));
}

// exp(x) - 1 for x <= 0.
template <typename V>
RSHIFT_INLINE V Expm1Of(const V& x) {
  const auto s = SplitLog(EachOf(
      [](const WideFloats& p) RSHIFT_INLINE_LAMBDA { return WideMax(AllWide(-20.0f), p); }, x));
  return MultiplyAdd(s.power, Expm1NearZero(s.r), s.power - 1.0f);
}

// exp(x) for x in [-20, 0].
template <typename V>
RSHIFT_INLINE V NearExpOf(const V& x) {
  const auto s = SplitLog(x);
  return ExpNearZero(s.r) * s.power;
}

RSHIFT_INLINE WideFloats LogisticOf(const WideFloats& x) {
  const WideFloats e = ExpOf(MinusAbs(x));
  return (x < 0.0f ? e : AllWide(1.0f)) / (1.0f + e);
}

// (1 - e) / (1 + e), e = exp(-2 |x|), with the sign of x.
template <typename V>
RSHIFT_INLINE V TanhOf(const V& x) {
  const V e = Expm1Of(EachOf(MinusAbs, x) * 2.0f);
  return EachOf(
      [](const WideFloats& size, const WideFloats& sign) RSHIFT_INLINE_LAMBDA {
        return OfBits((Bits(size) & INT32_MAX) | (Bits(sign) & INT32_MIN));
      },
      e / (2.0f + e), x);
}

// x tanh(log(1 + exp(x))) by e = exp(-|x|): a square less of what cancels.
RSHIFT_INLINE WideFloats MishOf(const WideFloats& x) {
  const WideFloats e = ExpOf(MinusAbs(x)), twice = e + e;
  const auto negative = x < 0.0f;
  const WideFloats above = negative ? e * e + twice : 1.0f + twice;
  return x * (above / (above + (negative ? AllWide(2.0f) : twice * e)));
}

// erf(|x|) and 1 - erf(|x|). Polynomials: N. Juffa, "A fast error function" (2018).
template <typename V>
struct ErrorFunction {
  V value, rest;
};
template <typename V>
RSHIFT_INLINE ErrorFunction<V> ErfOf(const V& size) {
  constexpr float kOne = 4.0f;  // from there on the value is 1
  const V t = EachOf(
      [](const WideFloats& p) RSHIFT_INLINE_LAMBDA { return WideMin(AllWide(kOne), p); }, size);
  const V s = t * t;
  V near = MultiplyAdd(s, -5.96761703e-4f, 4.99119423e-3f);
  V far = MultiplyAdd(t, -1.72853470e-5f, 3.83197126e-4f);
  const V other = MultiplyAdd(t, -3.88396438e-3f, 2.42546219e-2f);
  near = MultiplyAdd(near, s, -2.67681349e-2f);
  far = MultiplyAdd(far, s, other);
  near = MultiplyAdd(near, s, 1.12819925e-1f);
  far = MultiplyAdd(far, t, -1.06777877e-1f);
  near = MultiplyAdd(near, s, -3.76125336e-1f);
  far = MultiplyAdd(far, t, -6.34846687e-1f);
  near = MultiplyAdd(near, s, 1.28379166e-1f);
  far = MultiplyAdd(far, t, -1.28717512e-1f);
  near = MultiplyAdd(near, t, t);
  far = MultiplyAdd(far, t, 0.0f - t);
  const V rest = EachOf([](const WideFloats& p, const WideFloats& q)
                            RSHIFT_INLINE_LAMBDA { return OfBits(Bits(p) & ~(q >= kOne)); },
                        NearExpOf(far), size);
  const auto choose = [](const WideFloats& at, const WideFloats& p, const WideFloats& q)
                          RSHIFT_INLINE_LAMBDA { return at > 0.927734375f ? p : q; };
  return {EachOf(choose, t, 1.0f - rest, near), EachOf(choose, t, rest, 1.0f - near)};
}

RSHIFT_INLINE WideFloats Erf(const WideFloats& x) {
  return OfBits(Bits(ErfOf(OfBits(Bits(x) & INT32_MAX)).value) | (Bits(x) & INT32_MIN));
}

template <typename V>
RSHIFT_INLINE V Gelu(const V& x) {
  const auto erf = ErfOf(EachOf(
      [](const WideFloats& p)
          RSHIFT_INLINE_LAMBDA { return OfBits(Bits(p * 0.70710678118654752f) & INT32_MAX); },
      x));
  const V weight = EachOf([](const WideFloats& at, const WideFloats& p, const WideFloats& q)
                              RSHIFT_INLINE_LAMBDA { return at < 0.0f ? p : q; },
                          x, erf.rest, 1.0f + erf.value);
  return 0.5f * x * weight;
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
RSHIFT_FUNCTION(RowSilu, x* LogisticOf(x))
RSHIFT_FUNCTION(RowMish, MishOf(x))
RSHIFT_FUNCTION(RowErf, Erf(x))
RSHIFT_FUNCTION(RowGeluTanh, GeluByTanh(x))
RSHIFT_FUNCTION(RowElu, beta*(x > 0.0f ? x : alpha * Expm1Of(WideMin(WideFloats{}, x))))
RSHIFT_FUNCTION(RowHardSigmoid, UnitOf(alpha* x + beta))
RSHIFT_FUNCTION(RowHardSwish, x* UnitOf(x*(1.0f / 6) + 0.5f))
RSHIFT_FUNCTION(RowLeakyRelu, x < 0.0f ? x * alpha : x)
RSHIFT_FUNCTION(RowClip, WideMin(AllWide(beta), WideMax(AllWide(alpha), x)))
#undef RSHIFT_FUNCTION

// As Each, two registers side by side.
template <typename F>
RSHIFT_INLINE void EachPair(const float* x, float* y, int64_t n, const F& f) {
  constexpr int64_t kWidth = kWide / 4;
  const auto pair = [&](const float* from, float* to) RSHIFT_INLINE_LAMBDA {
    const Pair value = f(Pair{LoadPart<WideFloats>(from), LoadPart<WideFloats>(from + kWidth)});
    std::memcpy(to, &value.a, sizeof value.a);
    std::memcpy(to + kWidth, &value.b, sizeof value.b);
  };
  int64_t i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth) pair(x + i, y + i);
  if (i == n) return;
  float rest[2 * kWidth] = {};
  for (int64_t k = 0; k < n - i; ++k) rest[k] = x[i + k];
  pair(rest, rest);
  for (int64_t k = 0; k < n - i; ++k) y[i + k] = rest[k];
}

void RowTanh(const float* from, float* to, int64_t n, float, float) noexcept {
  EachPair(from, to, n, [](const Pair& x) RSHIFT_INLINE_LAMBDA { return TanhOf(x); });
}
void RowGelu(const float* from, float* to, int64_t n, float, float) noexcept {
  EachPair(from, to, n, [](const Pair& x) RSHIFT_INLINE_LAMBDA { return Gelu(x); });
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_FUNCTION_KERNELS_H_
