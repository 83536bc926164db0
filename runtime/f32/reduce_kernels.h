// Sums and extremes of rows and columns (row_kernels.h), for the units of the instruction sets.
#ifndef RSHIFT_RUNTIME_F32_REDUCE_KERNELS_H_
#define RSHIFT_RUNTIME_F32_REDUCE_KERNELS_H_

#include "runtime/f32/row_kernels.h"
#include "runtime/f32/vec8.h"

namespace rshift::f32 {
namespace {

// Index of the first element of the last group of eight, if groups began at multiples of 8. When n
// is no multiple of 8 the last group is loaded from n - 8 on instead, so that it overlaps the group
// before it, and the lanes already summed are masked. `n` is at least 8.
RSHIFT_INLINE int64_t LastGroup(int64_t n) { return (n - 1) / 8 * 8; }

// Groups of eight by turns into two times eight partial sums, the last group into the first of
// them.
template <typename F>
RSHIFT_INLINE double SumRow(const float* x, int64_t n, const F& term) {
  float few[8] = {};
  int64_t known = 0;  // lanes of the last group that are in an earlier one, or no elements
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) few[8 - n + i] = x[i];
    x = few;
    known = 8 - n;
    n = 8;
  }
  Doubles a = AllDoubles(0), b = a;
  const int64_t last = LastGroup(n);
  int64_t i = 0;
  for (; i + 8 < last; i += 16) {
    a = a + term(LoadWide(x + i));
    b = b + term(LoadWide(x + i + 8));
  }
  if (i < last) b = b + term(LoadWide(x + i));
  if (n != 8) known = last - (n - 8);
  a = a + ZeroFirst(known, term(LoadWide(x + n - 8)));
  return Sum(a + b);
}

struct Value {
  int64_t mask;
  RSHIFT_INLINE explicit Value(bool absolute) : mask(absolute ? INT64_MAX : -1) {}
  RSHIFT_INLINE Doubles operator()(const Doubles& x) const {
    const int64_t bits = mask;
    return Map(
        [bits](DoublePart v) {
          return reinterpret_cast<DoublePart>(reinterpret_cast<LongPart>(v) & bits);
        },
        x);
  }
};

double RowSum(const float* x, int64_t n, bool absolute) noexcept {
  return SumRow(x, n, Value(absolute));
}

double RowSquares(const float* x, int64_t n, double about) noexcept {
  const Doubles mean = AllDoubles(about);
  return SumRow(x, n, [&](const Doubles& v) { return (v - mean) * (v - mean); });
}

// x > best or NaN: x.
RSHIFT_INLINE Floats HighestOrNan(const Floats& best, const Floats& x) {
  return Map([](FloatPart b, FloatPart v) { return ((v > b) | (v != v)) ? v : b; }, best, x);
}

RSHIFT_INLINE Floats Flip(const Floats& x, int32_t flip) {
  return Map(
      [flip](FloatPart v) {
        return reinterpret_cast<FloatPart>(reinterpret_cast<IntPart>(v) ^ flip);
      },
      x);
}

// The lowest is the highest of what has its sign turned.
constexpr int32_t SignFlip(bool lowest) { return lowest ? INT32_MIN : 0; }

// Of eight, the first where several are as high.
RSHIFT_INLINE float HighestLane(const Floats& x) {
  float lane[8];
  Store(x, lane);
  for (int step = 1; step < 8; step *= 2) {
    for (int i = 0; i < 8; i += 2 * step)
      lane[i] = lane[i + step] > lane[i] ? lane[i + step] : lane[i];
  }
  return lane[0];
}

float RowExtreme(const float* x, int64_t n, bool lowest) noexcept {
  const int32_t flip = SignFlip(lowest);
  float few[8];
  if (n < 8) {
    for (int64_t i = 0; i < 8; ++i) few[i] = x[i < n ? i : 0];
    x = few;
    n = 8;
  }
  // The highest of numbers, and beside it whether one is none.
  const auto higher = [](const Floats& best, const Floats& v) {
    return Map([](const FloatPart& b, const FloatPart& a) { return Max(a, b); }, best, v);
  };
  const auto odd = [](const Floats& seen, const Floats& v) {
    return Map(
        [](const FloatPart& s, const FloatPart& a) {
          return reinterpret_cast<FloatPart>(reinterpret_cast<IntPart>(s) | (a != a));
        },
        seen, v);
  };
  const Floats first = Flip(Load(x), flip), last = Flip(Load(x + n - 8), flip);
  Floats a = higher(AllFloats(-__builtin_inff()), first), b = higher(a, last);
  Floats seen = odd(odd(AllFloats(0), first), last);
  int64_t i = 8;
  for (; i + 16 <= n; i += 16) {
    const Floats v = Flip(Load(x + i), flip), w = Flip(Load(x + i + 8), flip);
    a = higher(a, v), b = higher(b, w);
    seen = odd(odd(seen, v), w);
  }
  if (i + 8 <= n) {
    const Floats v = Flip(Load(x + i), flip);
    a = higher(a, v);
    seen = odd(seen, v);
  }
  IntPart any = {};
  for (const FloatPart& part : seen.part) any |= reinterpret_cast<IntPart>(part);
  int32_t bits[kRegister / 4], all = 0;
  std::memcpy(bits, &any, sizeof bits);
  for (const int32_t word : bits) all |= word;
  if (all != 0) return __builtin_nanf("");
  const float best = HighestLane(higher(a, b));
  return lowest ? -best : best;
}

// Of numbers; a NaN is passed over.
RSHIFT_INLINE Floats Lowest(const Floats& best, const Floats& x) {
  return Map([](FloatPart b, FloatPart v) { return v < b ? v : b; }, best, x);
}

void RowExtremes(const float* x, int64_t n, float* lowest, float* highest) noexcept {
  float few[8];
  if (n < 8) {
    for (int64_t i = 0; i < 8; ++i) few[i] = x[i < n ? i : 0];
    x = few;
    n = 8;
  }
  const Floats last = Load(x + n - 8);
  Floats high[4] = {last, last, last, last}, low[4] = {last, last, last, last};
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
#pragma GCC unroll 4
    for (int64_t c = 0; c < 4; ++c) {
      const Floats v = Load(x + i + 8 * c);
      high[c] = HighestOrNan(high[c], v);
      low[c] = Lowest(low[c], v);
    }
  }
  for (; i + 8 <= n; i += 8) {
    const Floats v = Load(x + i);
    high[0] = HighestOrNan(high[0], v);
    low[0] = Lowest(low[0], v);
  }
  float lane[8];
  Store(HighestOrNan(HighestOrNan(high[0], high[1]), HighestOrNan(high[2], high[3])), lane);
  *highest = lane[0];
  for (const float v : lane) *highest = v > *highest || v != v ? v : *highest;
  Store(Lowest(Lowest(low[0], low[1]), Lowest(low[2], low[3])), lane);
  *lowest = lane[0];
  for (const float v : lane) *lowest = v < *lowest ? v : *lowest;
  if (*highest != *highest) *lowest = *highest;
}

// y[lane] = at(lane) for all lanes, 8 or more, by eights; the last eight overlap their neighbours.
template <typename T, typename F>
RSHIFT_INLINE void UpdateLanes(T* y, int64_t lanes, const F& at) {
  const int64_t last = LastGroup(lanes);
  const auto overlapping = at(lanes - 8);  // before its neighbours change
  for (int64_t lane = 0; lane < last; lane += 8) Store(at(lane), y + lane);
  Store(overlapping, y + lanes - 8);
}

// best[lane] = join(best[lane], x, lane) for one row after the other, x being where lane's is.
template <typename T, typename F>
RSHIFT_INLINE void FoldColumns(const Columns& columns, T* best, const F& join) {
  const Columns c = columns;
  int64_t row = 0;
  if (c.lanes < 8) {
    auto all = Load(best);
    float few[8] = {};
    for (; row < c.rows; ++row) {
      for (int64_t lane = 0; lane < c.lanes; ++lane) few[lane] = c.x[row * c.pitch + lane];
      all = join(all, few, 0);
    }
    Store(all, best);
    return;
  }
  for (; row < c.rows; row += 4) {  // four rows for a load and a store of what they are joined to
    const float* x = c.x + row * c.pitch;
    const int64_t rows = c.rows - row < 4 ? c.rows - row : 4;
    UpdateLanes(best, c.lanes, [&](int64_t lane) {
      auto all = Load(best + lane);
      for (int64_t r = 0; r < rows; ++r) all = join(all, x + r * c.pitch + lane, lane);
      return all;
    });
  }
}

void ColumnSums(const Columns& columns, bool absolute, double* sums) noexcept {
  const Value value(absolute);
  FoldColumns(columns, sums, [&](const Doubles& sum, const float* x, int64_t) {
    return sum + value(LoadWide(x));
  });
}

void ColumnSquares(const Columns& columns, const double* about, double* sums) noexcept {
  FoldColumns(columns, sums, [&](const Doubles& sum, const float* x, int64_t lane) {
    const Doubles difference = LoadWide(x) - Load(about + lane);
    return sum + difference * difference;
  });
}

void ColumnExtremes(const Columns& columns, bool lowest, float* extremes) noexcept {
  const int32_t flip = SignFlip(lowest);
  FoldColumns(columns, extremes, [flip](const Floats& best, const float* x, int64_t) {
    return HighestOrNan(best, Flip(Load(x), flip));
  });
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_REDUCE_KERNELS_H_
