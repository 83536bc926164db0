// Pooling windows over images of one channel (row_kernels.h), for the units of the instruction
// sets: the taps of neighbouring outputs are neighbours.
#ifndef RSHIFT_RUNTIME_F32_PLANE_KERNELS_H_
#define RSHIFT_RUNTIME_F32_PLANE_KERNELS_H_

#include "runtime/f32/row_kernels.h"
#include "runtime/f32/vec8.h"

namespace rshift::f32 {
namespace {

constexpr int64_t kPlaneOutputs = 256, kPlaneWidth = kWide / 4;
constexpr float kBelowAll = -__builtin_inff();

// Every second element of two registers, from number k on.
template <int k, typename Register>
RSHIFT_INLINE Register EverySecond(const Register& a, const Register& b) {
  if constexpr (sizeof(Register) == 64) {
    return __builtin_shufflevector(a, b, k, k + 2, k + 4, k + 6, k + 8, k + 10, k + 12, k + 14,
                                   k + 16, k + 18, k + 20, k + 22, k + 24, k + 26, k + 28, k + 30);
  } else if constexpr (sizeof(Register) == 32) {
    return __builtin_shufflevector(a, b, k, k + 2, k + 4, k + 6, k + 8, k + 10, k + 12, k + 14);
  } else {
    return __builtin_shufflevector(a, b, k, k + 2, k + 4, k + 6);
  }
}

// Element kStride * i of x for the lanes i of a register.
template <int kStride>
RSHIFT_INLINE WideFloats EachNth(const float* x) {
  const auto low = LoadPart<WideFloats>(x);
  if constexpr (kStride == 1) return low;
  return EverySecond<0>(low, LoadPart<WideFloats>(x + kPlaneWidth));
}

// Each of half a register's elements twice, from number kFirst on.
template <int kFirst>
RSHIFT_INLINE WideFloats Twice(const WideFloats& x) {
#if defined(__AVX512F__)
  constexpr int k = kFirst;
  return __builtin_shufflevector(x, x, k, k, k + 1, k + 1, k + 2, k + 2, k + 3, k + 3, k + 4, k + 4,
                                 k + 5, k + 5, k + 6, k + 6, k + 7, k + 7);
#elif defined(__AVX2__)
  constexpr int k = kFirst;
  return __builtin_shufflevector(x, x, k, k, k + 1, k + 1, k + 2, k + 2, k + 3, k + 3);
#else
  return __builtin_shufflevector(x, x, kFirst, kFirst, kFirst + 1, kFirst + 1);
#endif
}

// to[i] = the highest of column i of the rows.
RSHIFT_INLINE void HighestOfRows(const float* x, int64_t rows, int64_t pitch, int64_t n,
                                 float* to) {
  const auto highest = [&]<typename Register>(Register, int64_t i) RSHIFT_INLINE_LAMBDA {
    auto best = LoadPart<Register>(x + i);
    for (int64_t row = 1; row < rows; ++row) {
      const auto other = LoadPart<Register>(x + row * pitch + i);
      best = other > best ? other : best;
    }
    std::memcpy(to + i, &best, sizeof best);
  };
  if (n < kPlaneWidth) {
    for (int64_t i = 0; i < n; ++i) highest(0.0f, i);
    return;
  }
  for (int64_t i = 0; i + kPlaneWidth <= n; i += kPlaneWidth) highest(WideFloats{}, i);
  highest(WideFloats{}, n - kPlaneWidth);
}

// out[i] = the highest of kKernel neighbours from kStride * i of the line on.
template <int kKernel, int kStride>
RSHIFT_INLINE void HighestOfNeighbours(const float* line, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kPlaneWidth) {
    WideFloats best = EachNth<kStride>(line + kStride * i);
#pragma GCC unroll 3
    for (int tap = 1; tap < kKernel; ++tap)
      best = WideMax(EachNth<kStride>(line + kStride * i + tap), best);
    if (n - i >= kPlaneWidth) {
      std::memcpy(out + i, &best, sizeof best);
    } else {
      StoreFirst(best, n - i, out + i);
    }
  }
}

template <int kKernel, int kStride>
void PlaneRowHighestOf(const PlaneRow& row, float* out) noexcept {
  float line[kStride * (kPlaneOutputs + kPlaneWidth) + kKernel];
  for (int64_t at = 0; at < row.outputs; at += kPlaneOutputs) {
    const int64_t n = row.outputs - at < kPlaneOutputs ? row.outputs - at : kPlaneOutputs;
    const int64_t first = row.first + at * kStride;  // column of line[0]
    const int64_t end = kStride * ((n + kPlaneWidth - 1) / kPlaneWidth * kPlaneWidth) + kKernel;
    const int64_t lo = first < 0 ? -first : 0;
    const int64_t hi = row.columns - first < end ? row.columns - first : end;
    for (int64_t i = 0; i < lo; ++i) line[i] = kBelowAll;
    HighestOfRows(row.x + first + lo, row.rows, row.pitch, hi - lo, line + lo);
    for (int64_t i = hi; i < end; ++i) line[i] = kBelowAll;
    HighestOfNeighbours<kKernel, kStride>(line, n, out + at);
  }
}

void PlaneRowHighest(const PlaneRow& row, float* out) noexcept {
  if (row.stride == 1)
    return row.kernel == 2 ? PlaneRowHighestOf<2, 1>(row, out) : PlaneRowHighestOf<3, 1>(row, out);
  row.kernel == 2 ? PlaneRowHighestOf<2, 2>(row, out) : PlaneRowHighestOf<3, 2>(row, out);
}

void PlaneRowTwice(const float* x, int64_t n, float* out, int64_t times) noexcept {
  const auto twice = [&](const WideFloats& some, int64_t i, int64_t left) RSHIFT_INLINE_LAMBDA {
    const WideFloats low = Twice<0>(some), high = Twice<kPlaneWidth / 2>(some);
    for (float* to = out + 2 * i; to < out + times * 2 * n; to += 2 * n) {
      if (left >= kPlaneWidth / 2) {
        std::memcpy(to, &low, sizeof low);
        if (left >= kPlaneWidth) {
          std::memcpy(to + kPlaneWidth, &high, sizeof high);
        } else {
          StoreFirst(high, 2 * left - kPlaneWidth, to + kPlaneWidth);
        }
      } else {
        StoreFirst(low, 2 * left, to);
      }
    }
  };
  int64_t i = 0;
  for (; i + kPlaneWidth <= n; i += kPlaneWidth) twice(LoadPart<WideFloats>(x + i), i, kPlaneWidth);
  if (i < n) twice(LoadFirst(x + i, n - i), i, n - i);
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PLANE_KERNELS_H_
