// Sums, products and other scales of 16-bit numbers by products of 32 by 32 bits, whose quotients
// fit 32 bits: the compiler makes products of 64 by 64 bits where these are meant. The formulas are
// those of quantize/numerics/int16.h, SumInt16, ProductInt16 and RescaleInt16.
#ifndef RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_QUOTIENTS_H_
#define RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_QUOTIENTS_H_

#include <cstdint>

#include "runtime/kernels/int16.h"

namespace rshift {

// What a block's numbers share: (product + half) >> rshift, held to the bounds. The product of
// `most`, the largest there may be, tells whether quotients fit 32 bits.
struct S16Quotient {
  int64_t most = 0;
  int32_t rshift = 0;
  S16Bounds bounds;
  bool Fits() const { return (most >> rshift) < INT32_MAX; }
};

#if defined(__x86_64__)
// y[i] = quotient of a[i] * multiplier + b[i] * multiplier_b, i < n; y may be a. Returns how many
// it has done, the first ones.
int64_t SumQuotientsAvx2(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier_a,
                         int32_t multiplier_b, const S16Quotient& by, int32_t* y) noexcept;
int64_t SumQuotientsAvx512(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier_a,
                           int32_t multiplier_b, const S16Quotient& by, int32_t* y) noexcept;
// Of a[i] * b[i] * multiplier; without `b` of a[i] * multiplier.
int64_t ProductQuotientsAvx2(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier,
                             const S16Quotient& by, int32_t* y) noexcept;
int64_t ProductQuotientsAvx512(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier,
                               const S16Quotient& by, int32_t* y) noexcept;
#endif

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_QUOTIENTS_H_
