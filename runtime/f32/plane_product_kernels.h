// Convolutions of single pixels over planes (row_kernels.h), for the units of the instruction sets.
#ifndef RSHIFT_RUNTIME_F32_PLANE_PRODUCT_KERNELS_H_
#define RSHIFT_RUNTIME_F32_PLANE_PRODUCT_KERNELS_H_

#include "runtime/f32/plane_sums.h"

namespace rshift::f32 {
namespace {

// kRows filters at kParts registers of pixels.
template <typename Sum, int kRows, int kParts>
void RunPointTile(const PlaneProduct& p, int64_t row, int64_t pixel, int64_t pixels) {
  const float *x = p.x + pixel, *w = p.w + row * p.depth;
  const auto bias = [&](int r) { return p.bias != nullptr ? p.bias[row + r] : 0.0f; };
  Sum sums[kRows][kParts];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) sums[r][i].Begin(bias(r));
  }
  for (int64_t k = 0; k < p.depth; ++k, x += p.pixels, ++w) {
    WideFloats some[kParts];
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) some[i] = LoadPart<WideFloats>(x + i * kPlaneWidth);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < kParts; ++i) sums[r][i].Add(some[i], w[r * p.depth]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i)
      StoreOutputs(sums[r][i].End(bias(r)), pixels - i * kPlaneWidth, p.lo, p.hi,
                   p.out + (row + r) * p.pixels + pixel + i * kPlaneWidth);
  }
}

template <typename Sum, int kRows>
RSHIFT_INLINE void RunPointRows(const PlaneProduct& p, int64_t row, int64_t first, int64_t end) {
  constexpr int64_t kWidth = Sum::kPointParts * kPlaneWidth;
  int64_t pixel = first;
  for (; pixel + kWidth <= end; pixel += kWidth)
    RunPointTile<Sum, kRows, Sum::kPointParts>(p, row, pixel, kWidth);
  for (; pixel < end; pixel += kPlaneWidth) RunPointTile<Sum, kRows, 1>(p, row, pixel, end - pixel);
}

// 256 pixels at a time, which stay in the nearest cache while all filters read them.
template <typename Sum>
void RunPoints(const PlaneProduct& p) {
  constexpr int64_t kPixels = 256;
  for (int64_t pixel = p.first; pixel < p.end; pixel += kPixels) {
    const int64_t end = p.end - pixel < kPixels ? p.end : pixel + kPixels;
    int64_t row = 0;
    for (; row + Sum::kPointRows <= p.rows; row += Sum::kPointRows)
      RunPointRows<Sum, Sum::kPointRows>(p, row, pixel, end);
    if constexpr (Sum::kPointRows > 2) {
      for (; row + 2 <= p.rows; row += 2) RunPointRows<Sum, 2>(p, row, pixel, end);
    }
    if (row < p.rows) RunPointRows<Sum, 1>(p, row, pixel, end);
  }
}

void ProductOfPlanes(const PlaneProduct& p) noexcept {
  p.in_double ? RunPoints<DoubleSum>(p) : RunPoints<FloatSum>(p);
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PLANE_PRODUCT_KERNELS_H_
