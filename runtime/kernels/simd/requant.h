// From int32 accumulators to requantized values, V::kLanes channels at a time, for every rounding
// of RequantArgs (post-operations: finish.h), written once for the vocabularies V beside this file.
// What is computed is quantize/numerics/requantize.h, bit for bit.
//
// A requantizer is a struct S:
//   static S Load(const RequantArgs& q, int64_t entry);  constants of V::kLanes channels from entry
//   on Int Scale(Int acc) const;     complete accumulators, bias included -> v. The result is
//                                 clamp(v + zero_y, lo, hi), and still is when v is saturated to
//                                 s16
//   static constexpr bool kAddsZero;    v has zero_y in it: packing must not add it again
//   static constexpr bool kBiased;      v has also PackBias(q) taken off, as packing wants it
//   static constexpr bool kLow16Valid;  only the lower 16 bits of v are defined, as int16
// The SaturatingPack of each instruction set (<isa>/requant.h) makes bytes of v.
#ifndef RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_H_
#define RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_H_

#include <cstdint>

#include "runtime/kernels/kernels.h"
#include "runtime/kernels/simd/requant_float.h"

namespace rshift {
namespace {

// Which type a generic lambda is called for: f(RequantizerTag<S>{}).
template <typename S>
struct RequantizerTag {
  using Type = S;
};

// f(RequantizerTag<S>{}) with the requantizer for q. Not for q.post_ops. The integer roundings are
// WithIntegerRequantizer's (simd/requant_integer.h, neondot/requant.h).
template <typename V, typename F>
inline void WithRequantizer(const RequantArgs& q, const F& f) {
  switch (q.rounding) {
    case Rounding::kHalfUp:
    case Rounding::kTwoStep:
    case Rounding::kTwoStepUp:
    case Rounding::kHalfAway:
      return WithIntegerRequantizer(V{}, q, f);
    case Rounding::kFloatEven:
      return f(RequantizerTag<FloatEven<V>>{});
    case Rounding::kFloatZeroEven:
      return f(RequantizerTag<FloatZeroEven<V>>{});
    case Rounding::kHalfFloat:
      return IsPlain(q.half) ? f(RequantizerTag<HalfFloat<V>>{})
                             : f(RequantizerTag<HalfFloatAny<V>>{});
    case Rounding::kDoubleAway:
      return f(RequantizerTag<DoubleAway<V>>{});
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_H_
