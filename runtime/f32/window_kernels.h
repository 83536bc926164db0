// Pooling windows (row_kernels.h), for the units of the instruction sets. Lanes stay in registers
// from the first tap to the last.
#ifndef RSHIFT_RUNTIME_F32_WINDOW_KERNELS_H_
#define RSHIFT_RUNTIME_F32_WINDOW_KERNELS_H_

#include "runtime/f32/row_kernels.h"
#include "runtime/f32/vec8.h"

namespace rshift::f32 {
namespace {

// Taps of a window: as many as its type says, or, for 0, as the window has. A loop over a number
// that is known costs no branch that is guessed wrong, which took longer than the taps of a small
// window.
template <int kRows, int kColumns>
struct TapCounts {
  static int64_t rows(const FloatWindow& w) { return kRows != 0 ? kRows : w.rows; }
  static int64_t columns(const FloatWindow& w) { return kColumns != 0 ? kColumns : w.columns; }
};

// all = join(all, tap) for each tap of kGroups times kWidth lanes from `lane` on.
template <int kGroups, int kWidth, typename Counts, typename T, typename F>
RSHIFT_INLINE void FoldTaps(const FloatWindow& w, int64_t lane, T* all, const F& join) {
  const int64_t rows = Counts::rows(w), columns = Counts::columns(w);
#pragma GCC unroll 3
  for (int64_t row = 0; row < rows; ++row) {
    const float* tap = w.x + row * w.row_step + lane;
#pragma GCC unroll 3
    for (int64_t column = 0; column < columns; ++column, tap += w.column_step) {
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) all[g] = join(all[g], tap + kWidth * g);
    }
  }
}

// Of kGroups registers; any width gives the same.
template <int kGroups, typename Register, typename Counts, typename F>
RSHIFT_INLINE void HighestLanes(const FloatWindow& w, int64_t lane, float* out, const F& higher) {
  constexpr int kWidth = sizeof(Register) / sizeof(float);
  Register best[kGroups];
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) best[g] = LoadPart<Register>(w.x + lane + kWidth * g);
  FoldTaps<kGroups, kWidth, Counts>(w, lane, best,
                                    [&](const Register& b, const float* x) RSHIFT_INLINE_LAMBDA {
                                      return higher(LoadPart<Register>(x), b);
                                    });
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) std::memcpy(out + lane + kWidth * g, &best[g], sizeof best[g]);
}

// Sums in float: of few taps, whose error is that of a few roundings.
struct FloatLanes {
  typedef WideFloats Register;
  typedef float Scalar;
  typedef WideFloats Result;
  RSHIFT_INLINE static WideFloats Load(const float* x) { return LoadPart<WideFloats>(x); }
  RSHIFT_INLINE static WideFloats Rounded(const WideFloats& x) { return x; }
};
struct DoubleLanes {
  typedef WideDoubles Register;
  typedef double Scalar;
  typedef HalfFloats Result;
  RSHIFT_INLINE static WideDoubles Load(const float* x) { return WidenFloats(x); }
  RSHIFT_INLINE static HalfFloats Rounded(const WideDoubles& x) { return NarrowDoubles(x); }
};
constexpr int64_t kFloatTaps = 16;  // at most, of windows whose sums run in float

// Of kGroups registers.
template <int kGroups, typename Counts, typename Lanes>
RSHIFT_INLINE void MeanLanes(const FloatWindow& w, int64_t lane, typename Lanes::Scalar factor,
                             float* out) {
  using Register = typename Lanes::Register;
  constexpr int kWidth = sizeof(Register) / sizeof(typename Lanes::Scalar);
  Register sums[kGroups] = {};
  FoldTaps<kGroups, kWidth, Counts>(w, lane, sums,
                                    [](const Register& sum, const float* x)
                                        RSHIFT_INLINE_LAMBDA { return sum + Lanes::Load(x); });
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) {
    const typename Lanes::Result mean = Lanes::Rounded(sums[g] * factor);
    std::memcpy(out + lane + kWidth * g, &mean, sizeof mean);
  }
}

// Calls each(lane) for the lanes behind the last eight.
template <typename F>
RSHIFT_INLINE void EachTap(const FloatWindow& w, int64_t lane, const F& each) {
  for (int64_t row = 0; row < w.rows; ++row) {
    for (int64_t column = 0; column < w.columns; ++column)
      each(w.x[row * w.row_step + column * w.column_step + lane]);
  }
}

template <typename Counts>
void WindowHighestOf(const FloatWindow& w, float* out) noexcept {
  int64_t lane = 0;
  constexpr int64_t kWidth = kWide / 4, kFewLanes = kRegister / 4;
  const auto wide = [](const WideFloats& a, const WideFloats& b)
                        RSHIFT_INLINE_LAMBDA { return WideMax(a, b); };
  const auto part = [](const FloatPart& a, const FloatPart& b)
                        RSHIFT_INLINE_LAMBDA { return Max(a, b); };
  for (; lane + 4 * kWidth <= w.lanes; lane += 4 * kWidth)
    HighestLanes<4, WideFloats, Counts>(w, lane, out, wide);
  for (; lane + kWidth <= w.lanes; lane += kWidth)
    HighestLanes<1, WideFloats, Counts>(w, lane, out, wide);
  for (; lane + kFewLanes <= w.lanes; lane += kFewLanes)
    HighestLanes<1, FloatPart, Counts>(w, lane, out, part);
  for (; lane < w.lanes; ++lane) {
    float best = w.x[lane];
    EachTap(w, lane, [&](float x) { best = x > best ? x : best; });
    out[lane] = best;
  }
}

template <typename Counts, typename Lanes>
void WindowMeanOf(const FloatWindow& w, double reciprocal, float* out) noexcept {
  using Scalar = typename Lanes::Scalar;
  constexpr int64_t kWidth = sizeof(typename Lanes::Register) / sizeof(Scalar);
  const auto factor = static_cast<Scalar>(reciprocal);
  int64_t lane = 0;
  for (; lane + 4 * kWidth <= w.lanes; lane += 4 * kWidth)
    MeanLanes<4, Counts, Lanes>(w, lane, factor, out);
  for (; lane + kWidth <= w.lanes; lane += kWidth)
    MeanLanes<1, Counts, Lanes>(w, lane, factor, out);
  for (; lane < w.lanes; ++lane) {
    Scalar sum = 0;
    EachTap(w, lane, [&](float x) { sum += static_cast<Scalar>(x); });
    out[lane] = static_cast<float>(sum * factor);
  }
}

// Calls run(TapCounts) for the window's.
template <typename F>
RSHIFT_INLINE void WithTapCounts(const FloatWindow& w, const F& run) {
  if (w.rows == 3 && w.columns == 3) return run(TapCounts<3, 3>());
  if (w.rows == 2 && w.columns == 2) return run(TapCounts<2, 2>());
  run(TapCounts<0, 0>());
}

void WindowHighest(const FloatWindow& w, float* out) noexcept {
  WithTapCounts(w, [&]<typename Counts>(Counts) { WindowHighestOf<Counts>(w, out); });
}

void WindowMean(const FloatWindow& w, double factor, float* out) noexcept {
  if (w.rows * w.columns > kFloatTaps)
    return WindowMeanOf<TapCounts<0, 0>, DoubleLanes>(w, factor, out);
  WithTapCounts(w,
                [&]<typename Counts>(Counts) { WindowMeanOf<Counts, FloatLanes>(w, factor, out); });
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_WINDOW_KERNELS_H_
