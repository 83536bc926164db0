// Tiles of matrix products, and depthwise convolution (row_kernels.h), for the units of the
// instruction sets. Partial sums stay in registers from the first product to the last.
#ifndef RSHIFT_RUNTIME_F32_PRODUCT_KERNELS_H_
#define RSHIFT_RUNTIME_F32_PRODUCT_KERNELS_H_

#include "runtime/f32/row_kernels.h"
#include "runtime/f32/vec8.h"
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace rshift::f32 {
namespace {

// sum + x * w, where the product is exact: fused or not.
RSHIFT_INLINE WideDoubles PlusProduct(const WideDoubles& sum, const WideDoubles& x,
                                      const WideDoubles& w) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(x, w, sum);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(x, w, sum);
#elif defined(__aarch64__)
  return reinterpret_cast<WideDoubles>(vfmaq_f64(reinterpret_cast<float64x2_t>(sum),
                                                 reinterpret_cast<float64x2_t>(x),
                                                 reinterpret_cast<float64x2_t>(w)));
#else
  return sum + x * w;
#endif
}

// min(max(x, lo), hi); NaN stays.
RSHIFT_INLINE float ClampFloat(float x, float lo, float hi) {
  x = lo > x ? lo : x;
  return hi < x ? hi : x;
}
RSHIFT_INLINE HalfFloats ClampFloats(const HalfFloats& x, float lo, float hi) {
  const HalfFloats low = lo - HalfFloats{}, high = hi - HalfFloats{};
  const HalfFloats raised = low > x ? low : x;
  return high < raised ? high : raised;
}

constexpr int kColumnParts = 3;
constexpr int kTileColumns = kColumnParts * kLanes;
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileRows = 8;  // 24 sums in 32 registers
#else
constexpr int kTileRows = 4;  // 12 in 16
#endif

template <int kRows>
void RunTile(const ProductTile& t) {
  WideDoubles sum[kRows][kColumnParts];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kColumnParts; ++p) sum[r][p] = WidenFloats(t.bias + p * kLanes);
  }
  const double* x = t.x;
  const float* w = t.w;
  for (int64_t k = 0; k < t.depth; ++k, x += kRows, w += kTileColumns) {
    WideDoubles column[kColumnParts];
#pragma GCC unroll 4
    for (int p = 0; p < kColumnParts; ++p) column[p] = WidenFloats(w + p * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const WideDoubles row = x[r] - WideDoubles{};
#pragma GCC unroll 4
      for (int p = 0; p < kColumnParts; ++p) sum[r][p] = PlusProduct(sum[r][p], row, column[p]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float tail[kTileColumns];
    float* to = t.columns == kTileColumns ? t.out[r] : tail;
#pragma GCC unroll 4
    for (int p = 0; p < kColumnParts; ++p) {
      const HalfFloats y = ClampFloats(NarrowDoubles(sum[r][p]), t.lo, t.hi);
      std::memcpy(to + p * kLanes, &y, sizeof y);
    }
    if (to == tail) std::memcpy(t.out[r], tail, static_cast<size_t>(t.columns) * sizeof(float));
  }
}

void ProductOfTile(const ProductTile& tile) noexcept {
  switch (tile.rows) {
    case 1:
      return RunTile<1>(tile);
    case 2:
      return RunTile<2>(tile);
    case 3:
      return RunTile<3>(tile);
#if defined(__AVX512F__) || defined(__aarch64__)
    case 4:
      return RunTile<4>(tile);
    case 5:
      return RunTile<5>(tile);
    case 6:
      return RunTile<6>(tile);
    case 7:
      return RunTile<7>(tile);
#endif
    default:
      return RunTile<kTileRows>(tile);
  }
}

typedef float FourFloats __attribute__((vector_size(16)));
typedef double FourDoubles __attribute__((vector_size(32)));

RSHIFT_INLINE void StoreWide(const FourFloats& x, double* to) {
#if defined(__AVX2__)
  const FourDoubles y = _mm256_cvtps_pd(x);
#else
  const FourDoubles y = __builtin_convertvector(x, FourDoubles);
#endif
  std::memcpy(to, &y, sizeof y);
}

// Four floats of four rows, turned: to[k * kCount + r].
template <int kCount>
RSHIFT_INLINE void WidenFour(const float* const* x, int64_t k, double* to) {
  FourFloats row[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) row[r] = LoadPart<FourFloats>(x[r] + k);
  const FourFloats a = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const FourFloats b = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const FourFloats c = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const FourFloats d = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  StoreWide(__builtin_shufflevector(a, b, 0, 1, 4, 5), to);
  StoreWide(__builtin_shufflevector(a, b, 2, 3, 6, 7), to + kCount);
  StoreWide(__builtin_shufflevector(c, d, 0, 1, 4, 5), to + 2 * kCount);
  StoreWide(__builtin_shufflevector(c, d, 2, 3, 6, 7), to + 3 * kCount);
}

void WidenRows(const float* const* x, int64_t count, int64_t depth, double* to) noexcept {
  int64_t k = 0;
  if (count == kTileRows) {
    for (; k + 4 <= depth; k += 4) {
#pragma GCC unroll 2
      for (int r = 0; r < kTileRows; r += 4) WidenFour<kTileRows>(x + r, k, to + k * kTileRows + r);
    }
  }
  for (; k < depth; ++k) {
    for (int64_t r = 0; r < count; ++r) to[k * count + r] = x[r][k];
  }
}

// kParts registers of lanes from `lane` on.
template <int kParts>
RSHIFT_INLINE void DepthwiseLanes(const DepthwiseTaps& d, int64_t lane) {
  WideDoubles sum[kParts];
#pragma GCC unroll 4
  for (int p = 0; p < kParts; ++p) sum[p] = WidenFloats(d.bias + lane + p * kLanes);
  for (int64_t tap = 0; tap < d.taps; ++tap) {
    const float *x = d.x[tap] + lane, *w = d.w[tap] + lane;
#pragma GCC unroll 4
    for (int p = 0; p < kParts; ++p)
      sum[p] = PlusProduct(sum[p], WidenFloats(x + p * kLanes), WidenFloats(w + p * kLanes));
  }
#pragma GCC unroll 4
  for (int p = 0; p < kParts; ++p) {
    const HalfFloats y = ClampFloats(NarrowDoubles(sum[p]), d.lo, d.hi);
    std::memcpy(d.out + lane + p * kLanes, &y, sizeof y);
  }
}

void DepthwisePixel(const DepthwiseTaps& d) noexcept {
  int64_t lane = 0;
  for (; lane + 4 * kLanes <= d.lanes; lane += 4 * kLanes) DepthwiseLanes<4>(d, lane);
  for (; lane + kLanes <= d.lanes; lane += kLanes) DepthwiseLanes<1>(d, lane);
  for (; lane < d.lanes; ++lane) {
    double sum = d.bias[lane];
    for (int64_t tap = 0; tap < d.taps; ++tap)
      sum += static_cast<double>(d.x[tap][lane]) * static_cast<double>(d.w[tap][lane]);
    d.out[lane] = ClampFloat(static_cast<float>(sum), d.lo, d.hi);
  }
}

constexpr ProductKernels MakeProductKernels() {
  static_assert(kTileRows <= kMaxProductRows);
  return {.rows = kTileRows,
          .columns = kTileColumns,
          .tile = ProductOfTile,
          .widen = WidenRows,
          .depthwise = DepthwisePixel};
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PRODUCT_KERNELS_H_
