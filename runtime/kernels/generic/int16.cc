#include "runtime/kernels/int16.h"

#include <algorithm>

#include "quantize/numerics/int16.h"

// Written for the vectoriser, as elementwise.cc. Arithmetic shifts of 64 bits, which AVX2 has not,
// are logical ones of what is made non-negative first.
namespace rshift {
namespace {

constexpr int64_t kRaise = int64_t{1} << 62;

// floor(v / 2^shift), shift <= 62, for -2^62 <= v <= 2^62 + 2^61.
[[gnu::always_inline]] inline int64_t FloorShift(int64_t v, int64_t shift) {
  return static_cast<int64_t>(
      ((static_cast<uint64_t>(v) + static_cast<uint64_t>(kRaise)) >> shift) -
      (static_cast<uint64_t>(kRaise) >> shift));
}

[[gnu::always_inline]] inline int64_t Rounded(int64_t v, int64_t shift) {
  return FloorShift(v + ((int64_t{1} << shift) >> 1), shift);
}

// The bounds without the zero point: numbers are compared before it is added.
struct Held {
  int64_t lo, hi;
  int32_t zero;
  explicit Held(const S16Bounds& b)
      : lo(int64_t{b.lo} - b.zero), hi(int64_t{b.hi} - b.zero), zero(b.zero) {}
  [[gnu::always_inline]] int32_t operator()(int64_t v) const {
    return static_cast<int32_t>(v < lo ? lo : v > hi ? hi : v) + zero;
  }
};

template <typename T>
[[gnu::always_inline]] inline void WidenLoop(const void* from, int32_t zero, int64_t n,
                                             int32_t* v) {
  const T* x = static_cast<const T*>(from);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) v[i] = x[i] - zero;
}

template <typename T>
[[gnu::always_inline]] inline void NarrowLoop(const int32_t* v, int64_t n, void* to) {
  T* y = static_cast<T*>(to);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(v[i]);
}

[[gnu::always_inline]] inline void SumLoop(const int32_t* a, const int32_t* b, int64_t n,
                                           int32_t multiplier_a, int32_t multiplier_b,
                                           int32_t rshift, const S16Bounds& bounds, int32_t* y) {
  const Held held(bounds);
  const int64_t half = (int64_t{1} << rshift) >> 1;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int64_t sum = int64_t{a[i]} * multiplier_a + int64_t{b[i]} * multiplier_b + half;
    y[i] = held(FloorShift(sum, rshift));
  }
}

[[gnu::always_inline]] inline void ProductLoop(const int32_t* a, const int32_t* b, int64_t n,
                                               const RequantWords& words, const S16Bounds& bounds,
                                               int32_t* y) {
  const Held held(bounds);
  const int32_t multiplier = words.multiplier, rshift = words.rshift;
  const int64_t half = (int64_t{1} << rshift) >> 1;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int32_t product = a[i] * b[i];  // within 2^30
    y[i] = held(FloorShift(int64_t{product} * multiplier + half, rshift));
  }
}

[[gnu::always_inline]] inline void RescaleLoop(const int32_t* v, int64_t n,
                                               const RequantWords& words, const S16Bounds& bounds,
                                               int32_t* y) {
  const Held held(bounds);
  const int32_t multiplier = words.multiplier == 0 ? 1 : words.multiplier;
  const int32_t rshift = words.multiplier == 0 ? 0 : words.rshift;
  const int64_t half = (int64_t{1} << rshift) >> 1;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i)
    y[i] = held(FloorShift(int64_t{v[i]} * multiplier + half, rshift));
}

[[gnu::always_inline]] inline void InterpolateLoop(const int32_t* table, const int32_t* v,
                                                   int64_t n, const S16Bounds& bounds, int32_t* y) {
  const Held held(bounds);
  constexpr int32_t kMask = (1 << numerics::kTableStepBits) - 1;
  constexpr int32_t kShift = numerics::kTableStepBits + numerics::kTableFractionBits;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int32_t at = v[i] + 32768, first = at >> numerics::kTableStepBits, part = at & kMask;
    const int64_t sum = int64_t{table[first]} * (kMask + 1 - part) + int64_t{table[first + 1]} * part;
    y[i] = held(Rounded(sum, kShift));
  }
}

[[gnu::always_inline]] inline void RequantizeLoop(const int64_t* acc, int64_t n,
                                                  const S16Channels& channels,
                                                  const S16Bounds& bounds, int32_t* y) {
  const Held held(bounds);
  const S16Channels c = channels;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int64_t product = (acc[i] + c.bias[i]) * c.multiplier[i];
    y[i] = held(Rounded(product, c.rshift[i]));
  }
}

[[gnu::always_inline]] inline void AddSumsLoop(const int32_t* from, int64_t n, int64_t* to) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}

[[gnu::always_inline]] inline void AddProductsLoop(const int16_t* x, const int16_t* w, int64_t n,
                                                   int32_t* to) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] += int32_t{x[i]} * w[i];
}

#define RSHIFT_TARGET(name, ...)                                                                   \
  struct name {                                                                                    \
    template <typename T>                                                                          \
    __VA_ARGS__ static void Widen(const void* x, int32_t zero, int64_t n, int32_t* v) noexcept {   \
      WidenLoop<T>(x, zero, n, v);                                                                 \
    }                                                                                              \
    template <typename T>                                                                          \
    __VA_ARGS__ static void Narrow(const int32_t* v, int64_t n, void* y) noexcept {                \
      NarrowLoop<T>(v, n, y);                                                                      \
    }                                                                                              \
    __VA_ARGS__ static void Sum(const int32_t* a, const int32_t* b, int64_t n, int32_t ma,         \
                                int32_t mb, int32_t rshift, const S16Bounds& bounds,               \
                                int32_t* y) noexcept {                                             \
      SumLoop(a, b, n, ma, mb, rshift, bounds, y);                                                 \
    }                                                                                              \
    __VA_ARGS__ static void Product(const int32_t* a, const int32_t* b, int64_t n,                 \
                                    const RequantWords& words, const S16Bounds& bounds,            \
                                    int32_t* y) noexcept {                                         \
      ProductLoop(a, b, n, words, bounds, y);                                                      \
    }                                                                                              \
    __VA_ARGS__ static void Rescale(const int32_t* v, int64_t n, const RequantWords& words,        \
                                    const S16Bounds& bounds, int32_t* y) noexcept {                \
      RescaleLoop(v, n, words, bounds, y);                                                         \
    }                                                                                              \
    __VA_ARGS__ static void Interpolate(const int32_t* table, const int32_t* v, int64_t n,         \
                                        const S16Bounds& bounds, int32_t* y) noexcept {            \
      InterpolateLoop(table, v, n, bounds, y);                                                     \
    }                                                                                              \
    __VA_ARGS__ static void Requantize(const int64_t* acc, int64_t n, const S16Channels& channels, \
                                       const S16Bounds& bounds, int32_t* y) noexcept {             \
      RequantizeLoop(acc, n, channels, bounds, y);                                                 \
    }                                                                                              \
    __VA_ARGS__ static void AddSums(const int32_t* from, int64_t n, int64_t* to) noexcept {        \
      AddSumsLoop(from, n, to);                                                                    \
    }                                                                                              \
    __VA_ARGS__ static void AddProducts(const int16_t* x, const int16_t* w, int64_t n,             \
                                        int32_t* to) noexcept {                                    \
      AddProductsLoop(x, w, n, to);                                                                \
    }                                                                                              \
  }

RSHIFT_TARGET(Scalar, );
#if defined(__x86_64__)
RSHIFT_TARGET(Avx2, [[gnu::target("avx2,fma")]]);
#if defined(__clang__)
RSHIFT_TARGET(Avx512, [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]);
#else
RSHIFT_TARGET(Avx512,
              [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]]);
#endif
#endif

template <typename T>
constexpr Int16Table kTable = {
    .widen = {&T::template Widen<int8_t>, &T::template Widen<uint8_t>, &T::template Widen<int16_t>},
    .narrow = {&T::template Narrow<int8_t>, &T::template Narrow<uint8_t>,
               &T::template Narrow<int16_t>},
    .sum = T::Sum,
    .product = T::Product,
    .rescale = T::Rescale,
    .interpolate = T::Interpolate,
    .requantize = T::Requantize,
    .add_sums = T::AddSums,
    .add_products = T::AddProducts};

}  // namespace

const Int16Table& Int16LoopsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return kTable<Avx2>;
  if (isa == Isa::kAvx512Vnni) return kTable<Avx512>;
#endif
  (void)isa;
  return kTable<Scalar>;
}

}  // namespace rshift
