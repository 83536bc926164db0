// x * y + z rounded once, the same bits on every CPU, for the units of the instruction sets.
#ifndef RSHIFT_RUNTIME_F32_FUSED_PRODUCT_H_
#define RSHIFT_RUNTIME_F32_FUSED_PRODUCT_H_

#include "runtime/f32/vec8.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace rshift::f32 {
namespace {

#if defined(__AVX512F__) || defined(__FMA__) || defined(__aarch64__)
constexpr bool kIsFused = true;
RSHIFT_INLINE WideFloats FusedPlusProduct(const WideFloats& sum, const WideFloats& x,
                                          const WideFloats& w) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(x, w, sum);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(x, w, sum);
#else
  return reinterpret_cast<WideFloats>(vfmaq_f32(reinterpret_cast<float32x4_t>(sum),
                                                reinterpret_cast<float32x4_t>(x),
                                                reinterpret_cast<float32x4_t>(w)));
#endif
}
#else
constexpr bool kIsFused = false;
// Without the instruction: slow, and so in little code. The product is exact in double. Its sum is
// rounded to odd: toward zero, the last bit set where anything was lost, so that rounding it once
// more to a float is right.
RSHIFT_INLINE DoublePart PlusProductRoundedToOdd(const DoublePart& sum, const DoublePart& x,
                                                 const DoublePart& w) {
  const DoublePart product = x * w, all = product + sum;
  const DoublePart of_sum = all - product, lost = (product - (all - of_sum)) + (sum - of_sum);
  const auto bits = reinterpret_cast<LongPart>(all);
  const LongPart above = lost > 0.0, positive = all > 0.0, opposite = above ^ positive;
  const LongPart inexact = above | (lost < 0.0), is_even = (bits & 1) - 1;
  return reinterpret_cast<DoublePart>(bits + ((1 + 2 * opposite) & inexact & is_even));
}
[[gnu::noinline]] WideFloats FusedPlusProduct(const WideFloats& sum, const WideFloats& x,
                                              const WideFloats& w) {
  HalfPart halves[3][2];
  std::memcpy(halves[0], &sum, sizeof sum);
  std::memcpy(halves[1], &x, sizeof x);
  std::memcpy(halves[2], &w, sizeof w);
  for (int h = 0; h < 2; ++h) {
    halves[0][h] = Round(
        PlusProductRoundedToOdd(Widen(halves[0][h]), Widen(halves[1][h]), Widen(halves[2][h])));
  }
  return LoadPart<WideFloats>(halves[0]);
}
#endif

// x * y + z, rounded once, where y and z may be numbers.
RSHIFT_INLINE WideFloats WideOf(const WideFloats& x) { return x; }
RSHIFT_INLINE WideFloats WideOf(float x) { return AllWide(x); }
template <typename Y, typename Z>
RSHIFT_INLINE WideFloats MultiplyAdd(const WideFloats& x, const Y& y, const Z& z) {
  return FusedPlusProduct(WideOf(z), x, WideOf(y));
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_FUSED_PRODUCT_H_
