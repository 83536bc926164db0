#include "runtime/kernels/int16.h"

#include <algorithm>

#include "quantize/numerics/int16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
    const int64_t sum =
        int64_t{table[first]} * (kMask + 1 - part) + int64_t{table[first + 1]} * part;
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

template <typename T>
[[gnu::always_inline]] inline void FinishLoop(const S16Tile& tile, const S16Channels& channels,
                                              const S16Bounds& bounds) {
  const Held held(bounds);
  const S16Channels c = channels;
  for (int64_t p = 0; p < tile.pixels; ++p) {
    const int32_t* sums = tile.sums + p * tile.step;
    T* y = reinterpret_cast<T*>(tile.dst + p * tile.pitch);
#pragma omp simd
    for (int64_t i = 0; i < tile.count; ++i) {
      const int64_t product = (int64_t{sums[i]} + c.bias[i]) * c.multiplier[i];
      y[i] = static_cast<T>(held(Rounded(product, c.rshift[i])));
    }
  }
}

[[gnu::always_inline]] inline void FinishTileLoop(const S16Tile& tile, const S16Channels& channels,
                                                  const S16Bounds& bounds) {
  switch (tile.type) {
    case NarrowType::kS8:
      return FinishLoop<int8_t>(tile, channels, bounds);
    case NarrowType::kU8:
      return FinishLoop<uint8_t>(tile, channels, bounds);
    case NarrowType::kS16:
      return FinishLoop<int16_t>(tile, channels, bounds);
  }
}

[[gnu::always_inline]] inline S16Sums RowSumsLoop(const int16_t* x, int64_t n) {
  int64_t sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
  for (int64_t i = 0; i < n; ++i) {
    const int32_t v = x[i];
    sum += v;
    squares += v * v;
  }
  return {sum, squares};
}

[[gnu::always_inline]] inline void NormalizeLoop(const int16_t* x, int64_t count,
                                                 const S16Normalize& row, int32_t* y) {
  const S16Normalize r = row;
  const int32_t inverse = r.by.inverse, shift = r.by.shift;
  const int64_t half = int64_t{1} << (shift - 1);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t difference = r.n * x[i] - r.center;
    const auto normal =
        static_cast<int32_t>(FloorShift(int64_t{difference} * int64_t{inverse} + half, shift));
    const int64_t scaled = int64_t{normal} * int64_t{r.factors[i]} + r.offsets[i];
    const int64_t v = FloorShift(scaled, r.rshift);
    y[i] = static_cast<int32_t>(v < r.lo ? r.lo : v > r.hi ? r.hi : v);
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
    __VA_ARGS__ static void FinishTile(const S16Tile& tile, const S16Channels& channels,           \
                                       const S16Bounds& bounds) noexcept {                         \
      FinishTileLoop(tile, channels, bounds);                                                      \
    }                                                                                              \
    __VA_ARGS__ static S16Sums RowSums(const int16_t* x, int64_t n) noexcept {                     \
      return RowSumsLoop(x, n);                                                                    \
    }                                                                                              \
    __VA_ARGS__ static void Normalize(const int16_t* x, int64_t count, const S16Normalize& row,    \
                                      int32_t* y) noexcept {                                       \
      NormalizeLoop(x, count, row, y);                                                             \
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

#if defined(__x86_64__)
#define RSHIFT_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]

// Words of 16 channels: products of 32 by 32 bits are made of even and of odd ones.
struct Words16 {
  __m512i bias, even, odd, even_half, odd_half, even_shift, odd_shift;
};

// Numbers `at` of 16.
RSHIFT_AVX512 inline __m512i PickAvx512(const int64_t* v, __m512i at) {
  return _mm512_permutex2var_epi64(_mm512_loadu_si512(v), at, _mm512_loadu_si512(v + 8));
}

RSHIFT_AVX512 inline Words16 LoadWordsAvx512(const S16Channels& c, int64_t i) {
  const __m512i one = _mm512_set1_epi64(1);
  Words16 w;
  w.bias = _mm512_inserti64x4(
      _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_loadu_si512(c.bias + i))),
      _mm512_cvtepi64_epi32(_mm512_loadu_si512(c.bias + i + 8)), 1);
  const __m512i evens = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odds = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  w.even = PickAvx512(c.multiplier + i, evens);
  w.odd = PickAvx512(c.multiplier + i, odds);
  w.even_shift = PickAvx512(c.rshift + i, evens);
  w.odd_shift = PickAvx512(c.rshift + i, odds);
  w.even_half = _mm512_srli_epi64(_mm512_sllv_epi64(one, w.even_shift), 1);
  w.odd_half = _mm512_srli_epi64(_mm512_sllv_epi64(one, w.odd_shift), 1);
  return w;
}

// By hand: g++ 12 multiplies 64 bits by 64 where 32 by 32 are enough, and reads the channels' words
// again for every pixel. Factors below one: a quotient fits 32 bits.
RSHIFT_AVX512 void FinishTileAvx512(const S16Tile& t, const S16Channels& c,
                                    const S16Bounds& bounds) noexcept {
  if (!c.below_one) return Avx512::FinishTile(t, c, bounds);
  const __m512i zero = _mm512_set1_epi32(bounds.zero);
  const __m512i lo = _mm512_set1_epi32(bounds.lo - bounds.zero);
  const __m512i hi = _mm512_set1_epi32(bounds.hi - bounds.zero);
  const int64_t size = t.type == NarrowType::kS16 ? 2 : 1;
  for (int64_t i = 0; i < t.count; i += 16) {
    const Words16 w = LoadWordsAvx512(c, i);
    const int64_t left = t.count - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
    for (int64_t p = 0; p < t.pixels; ++p) {
      const __m512i acc = _mm512_add_epi32(_mm512_loadu_si512(t.sums + p * t.step + i), w.bias);
      const __m512i even = _mm512_srav_epi64(
          _mm512_add_epi64(_mm512_mul_epi32(acc, w.even), w.even_half), w.even_shift);
      const __m512i odd = _mm512_srav_epi64(
          _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(acc, 32), w.odd), w.odd_half),
          w.odd_shift);
      __m512i v = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
      v = _mm512_add_epi32(_mm512_min_epi32(_mm512_max_epi32(v, lo), hi), zero);
      uint8_t* y = t.dst + p * t.pitch + i * size;
      if (size == 2) {
        const __m256i narrow = _mm512_cvtepi32_epi16(v);
        if (left >= 16) {
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), narrow);
        } else {
          _mm256_mask_storeu_epi16(y, mask, narrow);
        }
      } else {
        _mm_mask_storeu_epi8(y, mask, _mm512_cvtepi32_epi8(v));
      }
    }
  }
}
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
    .finish_tile = T::FinishTile,
    .row_sums = T::RowSums,
    .normalize = T::Normalize,
    .add_sums = T::AddSums,
    .add_products = T::AddProducts};

#if defined(__x86_64__)
constexpr Int16Table kAvx512Table = [] {
  Int16Table table = kTable<Avx512>;
  table.finish_tile = FinishTileAvx512;
  return table;
}();
#endif

}  // namespace

const Int16Table& Int16LoopsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return kTable<Avx2>;
  if (isa == Isa::kAvx512Vnni) return kAvx512Table;
#endif
  (void)isa;
  return kTable<Scalar>;
}

}  // namespace rshift
