// Sums of products of floats for convolutions of planes: they begin at 0 and take one tap after the
// other, row by row, each by a fused multiply-add, and the bias last, as oneDNN 2.7 adds them in
// NHWC on CPUs with AVX-512. Or in double (portable steps).
#ifndef RSHIFT_RUNTIME_F32_PLANE_SUMS_H_
#define RSHIFT_RUNTIME_F32_PLANE_SUMS_H_

#include "runtime/f32/fused_product.h"
#include "runtime/f32/plane_kernels.h"
#include "runtime/f32/product_kernels.h"

namespace rshift::f32 {
namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kFilterRows = 6, kFilterParts = 4;  // 24 sums in 32 registers
#elif defined(__FMA__)
constexpr int kFilterRows = 4, kFilterParts = 2;  // 8 in 16
#else
constexpr int kFilterRows = 2, kFilterParts = 1;  // little code
#endif
// Of depthwise convolutions: images tend to have a multiple of 7 rows.
constexpr int kPlaneRows = kIsFused ? 7 : 2;

// One register of outputs: its sum as floats, or in double (portable steps), which begins with the
// bias, as the portable convolution in NHWC does.
struct FloatSum {
  static constexpr int kRows = kPlaneRows, kPointRows = kFilterRows, kPointParts = kFilterParts;
  WideFloats sum = {};
  RSHIFT_INLINE void Begin(float) { sum = WideFloats{}; }
  RSHIFT_INLINE void Add(const WideFloats& x, float w) {
    sum = FusedPlusProduct(sum, x, AllWide(w));
  }
  RSHIFT_INLINE WideFloats End(float bias) const { return sum + AllWide(bias); }
};
struct DoubleSum {
  static constexpr int kRows = 1, kPointRows = 1, kPointParts = 1;  // little code
  WideDoubles low = {}, high = {};
  RSHIFT_INLINE void Begin(float bias) {
    low = static_cast<double>(bias) - WideDoubles{};
    high = low;
  }
  RSHIFT_INLINE void Add(const WideFloats& x, float w) {
    float lanes[kPlaneWidth];
    std::memcpy(lanes, &x, sizeof lanes);
    const WideDoubles factor = static_cast<double>(w) - WideDoubles{};
    low = PlusProduct(low, WidenFloats(lanes), factor);
    high = PlusProduct(high, WidenFloats(lanes + kLanes), factor);
  }
  RSHIFT_INLINE WideFloats End(float) const {
    const HalfFloats halves[2] = {NarrowDoubles(low), NarrowDoubles(high)};
    return LoadPart<WideFloats>(halves);
  }
};

// The outputs of a register that are inside the row. One NaN for all: which of several a sum hands
// on is the instruction set's choice.
RSHIFT_INLINE void StoreOutputs(const WideFloats& x, int64_t n, float lo, float hi, float* out) {
  const WideFloats sum = WideMin(AllWide(hi), WideMax(AllWide(lo), x));
  const WideFloats y = sum != sum ? AllWide(__builtin_nanf("")) : sum;
  if (n >= kPlaneWidth) {
    std::memcpy(out, &y, sizeof y);
  } else {
    StoreFirst(y, n, out);
  }
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PLANE_SUMS_H_
