// Eight floats, or eight doubles made from them, in the registers of the unit that includes this:
// what reduce_kernels.h and its neighbours are written in. Always eight, so that the order of a sum
// does not depend on the instruction set. GCC's vectors instead of loops for the vectoriser: g++ 12
// writes four versions of every such loop, which is more than the runtime's size allows.
#ifndef RSHIFT_RUNTIME_F32_VEC8_H_
#define RSHIFT_RUNTIME_F32_VEC8_H_

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define RSHIFT_INLINE [[gnu::always_inline]] inline
#define RSHIFT_INLINE_LAMBDA __attribute__((always_inline))  // a call for eight elements costs more

namespace rshift::f32 {
namespace {

#if defined(__AVX2__)
constexpr int kRegister = 32;  // bytes
#else
constexpr int kRegister = 16;
#endif
// Of functions, whose elements are computed each by itself.
#if defined(__AVX512F__)
constexpr int kWide = 64;
#else
constexpr int kWide = kRegister;
#endif
constexpr int kFloatParts = 32 / kRegister, kDoubleParts = 64 / kRegister;

typedef float FloatPart __attribute__((vector_size(kRegister)));
typedef int32_t IntPart __attribute__((vector_size(kRegister)));
typedef float WideFloats __attribute__((vector_size(kWide)));
typedef int32_t WideInts __attribute__((vector_size(kWide)));
typedef float HalfPart __attribute__((vector_size(kRegister / 2)));  // becomes one DoublePart
typedef double DoublePart __attribute__((vector_size(kRegister)));
typedef int64_t LongPart __attribute__((vector_size(kRegister)));

struct Floats {
  FloatPart part[kFloatParts];
};
struct Doubles {
  DoublePart part[kDoubleParts];
};

// f of the parts with the same number.
template <typename F, typename... Ts>
RSHIFT_INLINE Floats Map(const F& f, const Floats& x, const Ts&... y) {
  Floats z;
  for (int p = 0; p < kFloatParts; ++p) z.part[p] = f(x.part[p], y.part[p]...);
  return z;
}
template <typename F, typename... Ts>
RSHIFT_INLINE Doubles Map(const F& f, const Doubles& x, const Ts&... y) {
  Doubles z;
  for (int p = 0; p < kDoubleParts; ++p) z.part[p] = f(x.part[p], y.part[p]...);
  return z;
}

template <typename T>
RSHIFT_INLINE T LoadPart(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

RSHIFT_INLINE Floats Load(const float* x) {
  Floats y;
  for (int p = 0; p < kFloatParts; ++p) y.part[p] = LoadPart<FloatPart>(x + 8 / kFloatParts * p);
  return y;
}
RSHIFT_INLINE Doubles Load(const double* x) {
  Doubles y;
  for (int p = 0; p < kDoubleParts; ++p) y.part[p] = LoadPart<DoublePart>(x + 8 / kDoubleParts * p);
  return y;
}
// g++ 12 makes two conversions of __builtin_convertvector where AVX has one.
RSHIFT_INLINE DoublePart Widen(const HalfPart& x) {
#if defined(__AVX2__)
  return _mm256_cvtps_pd(x);
#else
  return __builtin_convertvector(x, DoublePart);
#endif
}
RSHIFT_INLINE HalfPart Round(const DoublePart& x) {
#if defined(__AVX2__)
  return _mm256_cvtpd_ps(x);
#else
  return __builtin_convertvector(x, HalfPart);
#endif
}
RSHIFT_INLINE Doubles LoadWide(const float* x) {
  Doubles y;
  for (int p = 0; p < kDoubleParts; ++p) {
    y.part[p] = Widen(LoadPart<HalfPart>(x + 8 / kDoubleParts * p));
  }
  return y;
}

RSHIFT_INLINE void Store(const Floats& x, float* y) {
  for (int p = 0; p < kFloatParts; ++p) {
    std::memcpy(y + 8 / kFloatParts * p, &x.part[p], sizeof x.part[p]);
  }
}
RSHIFT_INLINE void Store(const Doubles& x, double* y) {
  for (int p = 0; p < kDoubleParts; ++p) {
    std::memcpy(y + 8 / kDoubleParts * p, &x.part[p], sizeof x.part[p]);
  }
}
// Rounded to floats.
RSHIFT_INLINE void Store(const Doubles& x, float* y) {
  for (int p = 0; p < kDoubleParts; ++p) {
    const HalfPart half = Round(x.part[p]);
    std::memcpy(y + 8 / kDoubleParts * p, &half, sizeof half);
  }
}

RSHIFT_INLINE Floats AllFloats(float x) {
  Floats y;
  for (FloatPart& part : y.part) part = x - FloatPart{};
  return y;
}
RSHIFT_INLINE Doubles AllDoubles(double x) {
  Doubles y;
  for (DoublePart& part : y.part) part = x - DoublePart{};
  return y;
}

// a > b ? a : b, b where one is NaN; as one instruction.
RSHIFT_INLINE FloatPart Max(const FloatPart& a, const FloatPart& b) {
#if defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

// a < b ? a : b and a > b ? a : b, b where one is NaN.
RSHIFT_INLINE WideFloats WideMin(const WideFloats& a, const WideFloats& b) {
#if defined(__AVX512F__)
  return _mm512_min_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}
RSHIFT_INLINE WideFloats WideMax(const WideFloats& a, const WideFloats& b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}
RSHIFT_INLINE WideFloats AllWide(float x) { return x - WideFloats{}; }

// The doubles of the widest register, and the floats they come from.
typedef double WideDoubles __attribute__((vector_size(kWide)));
typedef float HalfFloats __attribute__((vector_size(kWide / 2)));
constexpr int kLanes = kWide / 8;

RSHIFT_INLINE WideDoubles WidenFloats(const float* x) {
  const auto half = LoadPart<HalfFloats>(x);
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(half);
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(half);
#else
  return __builtin_convertvector(half, WideDoubles);
#endif
}

RSHIFT_INLINE HalfFloats NarrowDoubles(const WideDoubles& x) {
#if defined(__AVX512F__)
  return _mm512_cvtpd_ps(x);
#elif defined(__AVX2__)
  return _mm256_cvtpd_ps(x);
#else
  return __builtin_convertvector(x, HalfFloats);
#endif
}

// The first n elements, fewer than a register; zeros behind them.
RSHIFT_INLINE WideFloats LoadFirst(const float* x, int64_t n) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), x);
#else
  float some[kWide / 4] = {};
  for (int64_t i = 0; i < n; ++i) some[i] = x[i];
  return LoadPart<WideFloats>(some);
#endif
}
// The first n elements, fewer than a register.
RSHIFT_INLINE void StoreFirst(const WideFloats& x, int64_t n, float* out) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(out, static_cast<__mmask16>((1u << n) - 1), x);
#else
  float some[kWide / 4];  // pieces of 4, 2 and 1
  std::memcpy(some, &x, sizeof x);
  const float* from = some;
#pragma GCC unroll 3
  for (int64_t piece = 4; piece > 0; piece /= 2) {
    if ((n & piece) == 0) continue;
    std::memcpy(out, from, static_cast<size_t>(piece) * sizeof(float));
    out += piece;
    from += piece;
  }
#endif
}

RSHIFT_INLINE Floats operator-(const Floats& x, const Floats& y) {
  return Map([](const FloatPart& a, const FloatPart& b) { return a - b; }, x, y);
}
RSHIFT_INLINE Floats operator*(const Floats& x, const Floats& y) {
  return Map([](const FloatPart& a, const FloatPart& b) { return a * b; }, x, y);
}

RSHIFT_INLINE Doubles operator+(const Doubles& x, const Doubles& y) {
  return Map([](const DoublePart& a, const DoublePart& b) { return a + b; }, x, y);
}
RSHIFT_INLINE Doubles operator-(const Doubles& x, const Doubles& y) {
  return Map([](const DoublePart& a, const DoublePart& b) { return a - b; }, x, y);
}
RSHIFT_INLINE Doubles operator*(const Doubles& x, const Doubles& y) {
  return Map([](const DoublePart& a, const DoublePart& b) { return a * b; }, x, y);
}

// ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
RSHIFT_INLINE double Sum(const Doubles& x) {
  double lane[8];
  Store(x, lane);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// 0 in the first `count` lanes.
RSHIFT_INLINE Doubles ZeroFirst(int64_t count, const Doubles& x) {
  static constexpr int64_t kMask[16] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
  Doubles y;
  for (int p = 0; p < kDoubleParts; ++p) {
    const auto mask = LoadPart<LongPart>(kMask + 8 - count + 8 / kDoubleParts * p);
    y.part[p] = reinterpret_cast<DoublePart>(reinterpret_cast<LongPart>(x.part[p]) & mask);
  }
  return y;
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_VEC8_H_
