// The requantizers of the integer roundings on x86-64 (what a requantizer is: requant.h), and the
// fused multiply-add that stands for one of them.
//
// Products of 64 bits come from even lanes, so the odd ones are shifted down, and of both products
// the high halves are merged: floor(floor(v / 2^32) / 2^(s - 32)) = floor(v / 2^s), so nothing
// below is needed when s >= 32.
#ifndef RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_INTEGER_H_
#define RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_INTEGER_H_

#include <cstdint>

#include "runtime/kernels/kernels.h"
#include "runtime/kernels/simd/requant.h"
#include "runtime/kernels/simd/requant_two_step.h"

namespace rshift {
namespace {

// Packing saturates to int8 at its end: u8 values are 128 lower until then.
inline int32_t PackBias(const RequantArgs& q) { return q.hi > 127 ? 128 : 0; }

// kHalfUp with every rshift s >= 33: the rounding term 2^(s-1) is 2^(s-33) of the high halves.
// |high| <= 2^30 and the term <= 2^29: fits int32.
template <typename V>
struct HalfUpHigh {
  using Int = typename V::Int;
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  Int multiplier, multiplier_odd, half, shift;

  static HalfUpHigh Of(Int multiplier, Int rshift) {
    const Int shift = V::Sub(rshift, V::Set(32));
    const Int half = V::template ShiftRightUnsigned<1>(V::ShiftLeft(V::Set(1), shift));
    return {multiplier, V::OddLanes(multiplier), half, shift};
  }
  static HalfUpHigh Load(const RequantArgs& q, int64_t entry) {
    return Of(V::Load(q.multiplier + entry), V::Load(q.rshift + entry));
  }
  Int Scale(Int acc) const {
    const Int high =
        V::HighHalves(V::MulEven(acc, multiplier), V::MulEven(V::OddLanes(acc), multiplier_odd));
    return V::ShiftRight(V::Add(high, half), shift);
  }
};

// The same with what does not depend on the accumulator computed at load
// (RequantArgs::acc_factor 1): the common case, in six operations.
template <typename V>
struct HalfUpPrecomputed {
  static constexpr bool kAddsZero = true, kBiased = true, kLow16Valid = false;
  HalfUpHigh<V> high;

  static HalfUpPrecomputed Load(const RequantArgs& q, int64_t entry) {
    const auto multiplier = V::Load(q.multiplier + entry);
    return {{multiplier, V::OddLanes(multiplier), V::Load(q.high_half + entry),
             V::Load(q.high_shift + entry)}};
  }
  typename V::Int Scale(typename V::Int acc) const { return high.Scale(acc); }
};

// acc_factor 4: four times acc keeps two more bits of the product, down to bit 30, which is half a
// unit of the first of two roundings.
template <typename V>
struct FourTimesPrecomputed {
  static constexpr bool kAddsZero = true, kBiased = true, kLow16Valid = false;
  HalfUpPrecomputed<V> precomputed;

  static FourTimesPrecomputed Load(const RequantArgs& q, int64_t entry) {
    return {HalfUpPrecomputed<V>::Load(q, entry)};
  }
  typename V::Int Scale(typename V::Int acc) const {
    return precomputed.Scale(V::template ShiftLeft<2>(acc));
  }
};

// The same where some second step is away from zero: 2^31 less, that is 2 of bit 30, for a negative
// accumulator (see TwoStepHigh).
template <typename V>
struct TwoStepPrecomputed {
  using Int = typename V::Int;
  static constexpr bool kAddsZero = true, kBiased = true, kLow16Valid = false;
  HalfUpHigh<V> high;
  typename V::Mask away;

  static TwoStepPrecomputed Load(const RequantArgs& q, int64_t entry) {
    const int32_t most = q.rounding == Rounding::kTwoStep ? 31 : 64 + 31;
    return {HalfUpPrecomputed<V>::Load(q, entry).high,
            V::Greater(V::Load(q.rshift + entry), V::Set(most))};
  }
  Int Scale(Int acc) const {
    const auto away_and_negative = V::Both(V::Negative(acc), away);
    const Int half = V::SubWhere(away_and_negative, high.half, V::Set(2));
    const Int a = V::template ShiftLeft<2>(acc);
    const Int product = V::HighHalves(V::MulEven(a, high.multiplier),
                                      V::MulEven(V::OddLanes(a), high.multiplier_odd));
    return V::ShiftRight(V::Add(product, half), high.shift);
  }
};

// Where one fused multiply-add is the formula (RequantArgs::ratio). A float of 1.5 * 2^23 and more
// has no fraction bits: the sum is rounded to an integer, which stands in its lower bits, and
// zero_y is added on the way. Where packing wants all bits, the constant's are taken off again.
template <typename V>
struct ByRatio {
  static constexpr bool kAddsZero = true, kBiased = true, kLow16Valid = V::kPacksLow16;
  static constexpr float kPoint = 12582912.0f;  // 1.5 * 2^23
  typename V::Float ratio, point;

  static ByRatio Load(const RequantArgs& q, int64_t entry) { return Of(q, entry, PackBias(q)); }
  static ByRatio Of(const RequantArgs& q, int64_t entry, int32_t bias) {
    return {V::Load(q.ratio + entry), V::Set(kPoint + static_cast<float>(q.zero_y - bias))};
  }
  typename V::Int Scale(typename V::Int acc) const {
    const auto bits = V::Bits(V::MulAdd(V::ToFloat(acc), ratio, point));
    if constexpr (kLow16Valid) return bits;
    return V::Sub(bits, V::Bits(V::Set(kPoint)));
  }
};

// RequantArgs::negative with ratios: the accumulator's sign chooses one.
template <typename V>
struct ByTwoRatios {
  static constexpr bool kAddsZero = true, kBiased = true, kLow16Valid = V::kPacksLow16;
  ByRatio<V> positive;
  typename V::Float negative;

  static ByTwoRatios Load(const RequantArgs& q, int64_t entry) {
    return {ByRatio<V>::Load(q, entry), V::Load(q.negative->ratio + entry)};
  }
  typename V::Int Scale(typename V::Int acc) const {
    ByRatio<V> by = positive;
    by.ratio = V::Select(V::Negative(acc), negative, positive.ratio);
    return by.Scale(acc);
  }
};

// ByRatio where the clamp is the range of u8 or of s8, which packing saturates to.
template <typename V, bool kUnsigned>
struct ByRatioUnclamped {
  static constexpr bool kAddsZero = true, kBiased = false, kLow16Valid = true;
  ByRatio<V> by;

  static ByRatioUnclamped Load(const RequantArgs& q, int64_t entry) {
    return {ByRatio<V>::Of(q, entry, 0)};
  }
  typename V::Int Scale(typename V::Int acc) const { return by.Scale(acc); }
};

// What brings any rshift in [0, 62] to one >= 33, for results that saturate to 8 bits:
// * rshift below 20 becomes 20: with a multiplier of 2^30 and more every accumulator but 0 gives
//   |y| >= 2^10, with either.
// * below 33, the accumulator is shifted left by what is missing (1..13), after a clamp to 2^18:
//   what lies beyond gives |y| >= 2^15.
template <typename V>
struct NormalizeShift {
  using Int = typename V::Int;
  Int left, most;  // most: 2^18 - 1 where something is missing, else 2^31 - 1

  // Returns the new rshift in [33, 62].
  static Int Load(Int rshift, NormalizeShift* normalize) {
    const Int least = V::Set(33);
    rshift = V::Max(rshift, V::Set(20));
    const Int normalized = V::Max(rshift, least);
    normalize->left = V::Sub(normalized, rshift);
    normalize->most =
        V::Select(V::Greater(least, rshift), V::Set((1 << 18) - 1), V::Set(INT32_MAX));
    return normalized;
  }
};

// kHalfUp with any rshift.
template <typename V>
struct HalfUpWide {
  using Int = typename V::Int;
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  HalfUpHigh<V> high;
  NormalizeShift<V> normalize;

  static HalfUpWide Load(const RequantArgs& q, int64_t entry) {
    HalfUpWide s;
    const Int rshift = NormalizeShift<V>::Load(V::Load(q.rshift + entry), &s.normalize);
    s.high = HalfUpHigh<V>::Of(V::Load(q.multiplier + entry), rshift);
    return s;
  }
  Int Scale(Int acc) const {
    const Int clamped = V::Max(V::Min(acc, normalize.most), V::Not(normalize.most));
    return high.Scale(V::ShiftLeft(clamped, normalize.left));
  }
};

// kHalfAway with any rshift: |acc| (up to 2^31: unsigned) half up, then the sign again.
template <typename V>
struct HalfAway {
  using Int = typename V::Int;
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  HalfUpHigh<V> high;
  Int left, most;

  static HalfAway Load(const RequantArgs& q, int64_t entry) {
    const HalfUpWide<V> s = HalfUpWide<V>::Load(q, entry);
    const auto shifted = V::Greater(s.normalize.left, V::Set(0));
    return {s.high, s.normalize.left, V::Select(shifted, s.normalize.most, V::Set(-1))};
  }
  Int Scale(Int acc) const {
    const Int a = V::ShiftLeft(V::MinUnsigned(V::Abs(acc), most), left);
    const Int product = V::HighHalves(V::MulEvenUnsigned(a, high.multiplier),
                                      V::MulEvenUnsigned(V::OddLanes(a), high.multiplier_odd));
    const Int y = V::ShiftRightUnsigned(V::Add(product, high.half), high.shift);
    return V::WithSignOf(y, acc);  // acc 0 gave y 0
  }
};

// RequantArgs::negative without ratios: both sides of S, and of each accumulator the one that its
// sign wants.
template <typename V, typename S>
struct BySign {
  static constexpr bool kAddsZero = S::kAddsZero, kBiased = S::kBiased,
                        kLow16Valid = S::kLow16Valid;
  S positive, negative;

  static BySign Load(const RequantArgs& q, int64_t entry) {
    return {S::Load(q, entry), S::Load(*q.negative, entry)};
  }
  typename V::Int Scale(typename V::Int acc) const {
    return V::Select(V::Negative(acc), negative.Scale(acc), positive.Scale(acc));
  }
};

// f(RequantizerTag<S>{}) for the ratio's requantizers without a clamp; for all others,
// f(RequantizerTag<Other>{}).
template <typename V, typename Other, typename F>
inline void WithUnclamped(const RequantArgs& q, const F& f) {
  if (q.ratio == nullptr || q.negative != nullptr) return f(RequantizerTag<Other>{});
  if (q.lo == 0 && q.hi == 255) return f(RequantizerTag<ByRatioUnclamped<V, true>>{});
  if (q.lo == -128 && q.hi == 127) return f(RequantizerTag<ByRatioUnclamped<V, false>>{});
  f(RequantizerTag<Other>{});
}

// WithRequantizer of the integer roundings.
template <typename V, typename F>
inline void WithIntegerRequantizer(V, const RequantArgs& q, const F& f) {
  if (q.negative != nullptr) {
    if (q.ratio != nullptr) return f(RequantizerTag<ByTwoRatios<V>>{});
    return f(RequantizerTag<BySign<V, HalfUpPrecomputed<V>>>{});
  }
  if (q.ratio != nullptr && q.rounding == Rounding::kHalfUp) {
    if constexpr (V::kPacksLow16) {
      return WithUnclamped<V, ByRatio<V>>(q, f);
    } else {
      return f(RequantizerTag<ByRatio<V>>{});
    }
  }
  if (q.acc_factor == 1) return f(RequantizerTag<HalfUpPrecomputed<V>>{});
  if (q.acc_factor == 4) {
    const bool up = q.rounding == Rounding::kHalfUp ||
                    (q.rounding == Rounding::kTwoStepUp && q.max_rshift <= 62);
    return up ? f(RequantizerTag<FourTimesPrecomputed<V>>{})
              : f(RequantizerTag<TwoStepPrecomputed<V>>{});
  }
  if (q.rounding == Rounding::kHalfAway) return f(RequantizerTag<HalfAway<V>>{});
  if (q.rounding == Rounding::kHalfUp) {
    return q.min_rshift >= 33 ? f(RequantizerTag<HalfUpHigh<V>>{})
                              : f(RequantizerTag<HalfUpWide<V>>{});
  }
  if (q.min_rshift < 32 || q.max_rshift > 62) return f(RequantizerTag<TwoStepWide<V>>{});
  q.rounding == Rounding::kTwoStep ? f(RequantizerTag<TwoStepHigh<V>>{})
                                   : f(RequantizerTag<TwoStepUpHigh<V>>{});
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_INTEGER_H_
