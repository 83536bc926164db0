#include "runtime/kernels/int16.h"

#include <algorithm>
#include <bit>

#include "quantize/numerics/int16.h"
#include "runtime/kernels/generic/int16_lines.h"
#include "runtime/kernels/generic/int16_numbers.h"
#include "runtime/kernels/generic/int16_quotients.h"
#include "runtime/kernels/generic/targets.h"

// Written for the vectoriser, as elementwise.cc.
namespace rshift {
namespace {

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
  if (words.multiplier == 0) {
    const int32_t zero = bounds.zero, lo = bounds.lo - zero, hi = bounds.hi - zero;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (v[i] < lo ? lo : v[i] > hi ? hi : v[i]) + zero;
    return;
  }
  const Held held(bounds);
  const int32_t multiplier = words.multiplier, rshift = words.rshift;
  const int64_t half = (int64_t{1} << rshift) >> 1;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i)
    y[i] = held(FloorShift(int64_t{v[i]} * multiplier + half, rshift));
}

[[gnu::always_inline]] inline void WeighLoop(const int16_t* const* rows, const int32_t* weights,
                                             int32_t count, int64_t n, int32_t* sums) {
  const int16_t *a = rows[0], *b = rows[1], *c = rows[count - 2], *d = rows[count - 1];
  const int32_t wa = weights[0], wb = weights[1], wc = weights[count - 2], wd = weights[count - 1];
  if (count == 2) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) sums[i] = a[i] * wa + b[i] * wb;
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sums[i] = a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd;
}

// Two or four taps of each position. With kShifts the multiplier is a power of two, as of one scale
// for both tensors, and part of the shift.
template <int kTaps, bool kShifts>
[[gnu::always_inline]] inline void ResizeLoop(const S16ResizeRow& row, int32_t* y) {
  const Held held(row.bounds);
  const auto zeros = kShifts ? std::countr_zero(static_cast<uint32_t>(row.words.multiplier)) : 0;
  const int32_t rshift = row.words.rshift - zeros;
  const int64_t factor = row.words.multiplier, half = (int64_t{1} << rshift) >> 1;
  for (int64_t p = 0; p < row.positions; ++p, y += row.n) {
    const S16ResizeTap* taps = row.taps + p * kTaps;
    const int32_t *a = row.sums + taps[0].offset, *b = row.sums + taps[1].offset;
    const int32_t *c = row.sums + taps[kTaps - 2].offset, *d = row.sums + taps[kTaps - 1].offset;
    const int64_t wa = taps[0].weight, wb = taps[1].weight;
    const int64_t wc = taps[kTaps - 2].weight, wd = taps[kTaps - 1].weight;
#pragma omp simd
    for (int64_t i = 0; i < row.n; ++i) {
      int64_t sum = a[i] * wa + b[i] * wb;
      if constexpr (kTaps == 4) sum += c[i] * wc + d[i] * wd;
      y[i] = held(FloorShift((kShifts ? sum : sum * factor) + half, rshift));
    }
  }
}

[[gnu::always_inline]] inline void ResizeBy(const S16ResizeRow& row, int32_t* y) {
  if (row.taps_per_position == 4) return ResizeLoop<4, false>(row, y);
  const auto multiplier = static_cast<uint32_t>(row.words.multiplier);
  const bool shifts =
      std::has_single_bit(multiplier) && std::countr_zero(multiplier) <= row.words.rshift;
  shifts ? ResizeLoop<2, true>(row, y) : ResizeLoop<2, false>(row, y);
}

// Between the entries around v of the table that begins at `begin`, in units of y 2^-(step_bits +
// 8). One 32-bit index from `tables` on: the vectoriser gathers as many entries as it has lanes.
[[gnu::always_inline]] inline int64_t Line(const int32_t* tables, int32_t begin, int32_t step_bits,
                                           int32_t v) {
  const int32_t mask = (1 << step_bits) - 1;
  const int32_t at = v + 32768, first = begin + (at >> step_bits), part = at & mask;
  return int64_t{tables[first]} * (mask + 1 - part) + int64_t{tables[first + 1]} * part;
}

[[gnu::always_inline]] inline void InterpolateLoop(const int32_t* table, int32_t step_bits,
                                                   const int32_t* v, int64_t n,
                                                   const S16Bounds& bounds, int32_t* y) {
  const Held held(bounds);
  const int32_t shift = step_bits + numerics::kTableFractionBits;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = held(Rounded(Line(table, 0, step_bits, v[i]), shift));
}

[[gnu::always_inline]] inline void InterpolateChannelsLoop(const int32_t* tables,
                                                           const uint8_t* table_of,
                                                           const int32_t* v, int64_t n,
                                                           const S16Bounds& bounds, int32_t* y) {
  const Held held(bounds);
  constexpr int32_t kStep = numerics::kTableStepBits, kEntries = numerics::kTableSteps + 1;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int64_t line = Line(tables, kEntries * table_of[i], kStep, v[i]);
    y[i] = held(Rounded(line, kStep + numerics::kTableFractionBits));
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

[[gnu::always_inline]] inline void ChannelSumsLoop(const int16_t* x, int64_t count, int64_t* sums,
                                                   int64_t* squares) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t v = x[i];
    sums[i] += v;
    squares[i] += v * v;
  }
}

[[gnu::always_inline]] inline int32_t ScaledNormal(int32_t normal, int64_t i,
                                                   const S16Normalize& r) {
  const int64_t v = FloorShift(int64_t{normal} * int64_t{r.factors[i]} + r.offsets[i], r.rshift);
  return static_cast<int32_t>(v < r.lo ? r.lo : v > r.hi ? r.hi : v);
}

// Rows without halvings.
[[gnu::always_inline]] inline void NormalizeLoop(const int16_t* x, int64_t count,
                                                 const S16Normalize& row, int32_t* y) {
  const S16Normalize r = row;
  const auto n = static_cast<int32_t>(r.n), center = static_cast<int32_t>(r.center);
  const int32_t inverse = r.by.inverse, shift = r.by.shift;
  const int64_t half = int64_t{1} << (shift - 1);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t difference = n * x[i] - center;
    const auto normal =
        static_cast<int32_t>(FloorShift(int64_t{difference} * int64_t{inverse} + half, shift));
    y[i] = ScaledNormal(normal, i, r);
  }
}

[[gnu::always_inline]] inline void NormalizeChannelsLoop(const int16_t* x, int64_t count,
                                                         const S16Normalize& pixel, int32_t* y) {
  const S16Normalize r = pixel;
  const auto n = static_cast<int32_t>(r.n);  // at most 2^22
  const int64_t half_unit = (int64_t{1} << r.halvings) >> 1;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int64_t whole = int64_t{n} * int64_t{x[i]} - r.centers[i];
    const auto difference = static_cast<int32_t>(FloorShift(whole + half_unit, r.halvings));
    const int64_t half = int64_t{1} << (r.shifts[i] - 1);
    const auto normal = static_cast<int32_t>(
        FloorShift(int64_t{difference} * int64_t{r.inverses[i]} + half, r.shifts[i]));
    y[i] = ScaledNormal(normal, i, r);
  }
}

[[gnu::always_inline]] inline void AddSumsLoop(const int32_t* from, int64_t n, int64_t* to) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
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
    __VA_ARGS__ static void Interpolate(const int32_t* table, int32_t step_bits, const int32_t* v, \
                                        int64_t n, const S16Bounds& bounds, int32_t* y) noexcept { \
      InterpolateLoop(table, step_bits, v, n, bounds, y);                                          \
    }                                                                                              \
    __VA_ARGS__ static void InterpolateChannels(const int32_t* tables, const uint8_t* table_of,    \
                                                const int32_t* v, int64_t n,                       \
                                                const S16Bounds& bounds, int32_t* y) noexcept {    \
      InterpolateChannelsLoop(tables, table_of, v, n, bounds, y);                                  \
    }                                                                                              \
    __VA_ARGS__ static S16Sums RowSums(const int16_t* x, int64_t n) noexcept {                     \
      return RowSumsLoop(x, n);                                                                    \
    }                                                                                              \
    __VA_ARGS__ static void Normalize(const int16_t* x, int64_t count, const S16Normalize& row,    \
                                      int32_t* y) noexcept {                                       \
      NormalizeLoop(x, count, row, y);                                                             \
    }                                                                                              \
    __VA_ARGS__ static void NormalizeChannels(const int16_t* x, int64_t count,                     \
                                              const S16Normalize& pixel, int32_t* y) noexcept {    \
      NormalizeChannelsLoop(x, count, pixel, y);                                                   \
    }                                                                                              \
    __VA_ARGS__ static void ChannelSums(const int16_t* x, int64_t count, int64_t* sums,            \
                                        int64_t* squares) noexcept {                               \
      ChannelSumsLoop(x, count, sums, squares);                                                    \
    }                                                                                              \
    __VA_ARGS__ static void AddSums(const int32_t* from, int64_t n, int64_t* to) noexcept {        \
      AddSumsLoop(from, n, to);                                                                    \
    }                                                                                              \
    __VA_ARGS__ static void Weigh(const int16_t* const* rows, const int32_t* weights,              \
                                  int32_t count, int64_t n, int32_t* sums) noexcept {              \
      WeighLoop(rows, weights, count, n, sums);                                                    \
    }                                                                                              \
    __VA_ARGS__ static void Resize(const S16ResizeRow& row, int32_t* y) noexcept {                 \
      ResizeBy(row, y);                                                                            \
    }                                                                                              \
  }

RSHIFT_FOR_TARGETS(RSHIFT_TARGET);

// The loops of target T behind what `Sums`, `Products` and `Lines` can do.
template <typename T, auto Sums, auto Products, auto Lines>
struct ByHand : T {
  static constexpr int64_t kMagnitude = numerics::kInt16Magnitude;

  static int64_t Absolute(int32_t x) { return x < 0 ? -int64_t{x} : int64_t{x}; }
  static void Sum(const int32_t* a, const int32_t* b, int64_t n, int32_t ma, int32_t mb,
                  int32_t rshift, const S16Bounds& bounds, int32_t* y) noexcept {
    const S16Quotient by{kMagnitude * (Absolute(ma) + Absolute(mb)), rshift, bounds};
    const int64_t done = by.Fits() ? Sums(a, b, n, ma, mb, by, y) : 0;
    T::Sum(a + done, b + done, n - done, ma, mb, rshift, bounds, y + done);
  }
  static void Product(const int32_t* a, const int32_t* b, int64_t n, const RequantWords& words,
                      const S16Bounds& bounds, int32_t* y) noexcept {
    const int32_t m = words.multiplier;
    const S16Quotient by{kMagnitude * kMagnitude * Absolute(m), words.rshift, bounds};
    const int64_t done = by.Fits() ? Products(a, b, n, m, by, y) : 0;
    T::Product(a + done, b + done, n - done, words, bounds, y + done);
  }
  static void Rescale(const int32_t* v, int64_t n, const RequantWords& words,
                      const S16Bounds& bounds, int32_t* y) noexcept {
    const int32_t m = words.multiplier;
    const S16Quotient by{kMagnitude * Absolute(m), words.rshift, bounds};
    const int64_t done = m != 0 && by.Fits() ? Products(v, nullptr, n, m, by, y) : 0;
    T::Rescale(v + done, n - done, words, bounds, y + done);
  }
  static void Interpolate(const int32_t* table, int32_t step_bits, const int32_t* v, int64_t n,
                          const S16Bounds& bounds, int32_t* y) noexcept {
    const int64_t done = Lines(table, nullptr, step_bits, v, n, bounds, y);
    T::Interpolate(table, step_bits, v + done, n - done, bounds, y + done);
  }
  static void InterpolateChannels(const int32_t* tables, const uint8_t* table_of, const int32_t* v,
                                  int64_t n, const S16Bounds& bounds, int32_t* y) noexcept {
    const int64_t done = Lines(tables, table_of, numerics::kTableStepBits, v, n, bounds, y);
    T::InterpolateChannels(tables, table_of + done, v + done, n - done, bounds, y + done);
  }
};

template <typename T>
constexpr Int16Table kTable = {
    .widen = {&T::template Widen<int8_t>, &T::template Widen<uint8_t>, &T::template Widen<int16_t>},
    .narrow = {&T::template Narrow<int8_t>, &T::template Narrow<uint8_t>,
               &T::template Narrow<int16_t>},
    .sum = T::Sum,
    .product = T::Product,
    .rescale = T::Rescale,
    .interpolate = T::Interpolate,
    .interpolate_channels = T::InterpolateChannels,
    .row_sums = T::RowSums,
    .channel_sums = T::ChannelSums,
    .normalize = T::Normalize,
    .normalize_channels = T::NormalizeChannels,
    .add_sums = T::AddSums,
    .weigh = T::Weigh,
    .resize = T::Resize};

}  // namespace

const Int16Table& Int16LoopsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni)
    return kTable<ByHand<Avx2, SumQuotientsAvx2, ProductQuotientsAvx2, LinesAvx2>>;
  if (isa == Isa::kAvx512Vnni)
    return kTable<ByHand<Avx512, SumQuotientsAvx512, ProductQuotientsAvx512, LinesAvx512>>;
#endif
  (void)isa;
  return kTable<Scalar>;
}

}  // namespace rshift
