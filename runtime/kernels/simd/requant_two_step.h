// The requantizers of two roundings, the doubling high multiplication's and a shift's, on x86-64
// (what a requantizer is: requant.h; with constants computed at load: requant_integer.h).
#ifndef RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_TWO_STEP_H_
#define RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_TWO_STEP_H_

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

// kTwoStepUp with every rshift s in [32, 62]. Both roundings are half up, so they are one:
// floor((floor(v / 2^31 + 1/2) + 2^(s-32)) / 2^(s-31)) = floor((v + 2^30 + 2^(s-1)) / 2^s).
template <typename V>
struct TwoStepUpHigh {
  using Int = typename V::Int;
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  Int multiplier, multiplier_odd, halves, halves_odd, shift;

  static TwoStepUpHigh Load(const RequantArgs& q, int64_t entry) {
    const Int rshift = V::Load(q.rshift + entry);
    const auto halves = [](Int s) {
      const Int half = V::template ShiftRightUnsigned64<1>(V::ShiftLeft64(V::Set64(1), s));
      return V::Add64(half, V::Set64(1 << 30));
    };
    const Int multiplier = V::Load(q.multiplier + entry);
    return {multiplier, V::OddLanes(multiplier), halves(V::EvenLanes(rshift)),
            halves(V::OddLanes(rshift)), V::Sub(rshift, V::Set(32))};
  }
  Int Scale(Int acc) const {
    const Int even = V::Add64(V::MulEven(acc, multiplier), halves);
    const Int odd = V::Add64(V::MulEven(V::OddLanes(acc), multiplier_odd), halves_odd);
    return V::ShiftRight(V::HighHalves(even, odd), shift);
  }
};

// kTwoStep with every rshift in [32, 62]: the second rounding takes 1 off what the first gave when
// that is negative, that is 2^31 off v, or bit 31 of a negative accumulator. (acc -1 with
// multiplier 2^30 is rounded to 0 first, and multiplier 0 gives 0: the result is 0 with either.)
template <typename V>
struct TwoStepHigh {
  using Int = typename V::Int;
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  TwoStepUpHigh<V> up;

  static TwoStepHigh Load(const RequantArgs& q, int64_t entry) {
    return {TwoStepUpHigh<V>::Load(q, entry)};
  }
  Int Scale(Int acc) const {
    const Int sign = V::Set64(int64_t{1} << 31), acc_odd = V::OddLanes(acc);
    const Int even_halves = V::Sub64(up.halves, V::And(acc, sign));
    const Int odd_halves = V::Sub64(up.halves_odd, V::And(acc_odd, sign));
    const Int even = V::Add64(V::MulEven(acc, up.multiplier), even_halves);
    const Int odd = V::Add64(V::MulEven(acc_odd, up.multiplier_odd), odd_halves);
    return V::ShiftRight(V::HighHalves(even, odd), up.shift);
  }
};

// kTwoStep and kTwoStepUp with any rshift, also both among the channels (rshift >= 64).
// The first step is the high half of 2 * acc * multiplier; doubled, the multiplier is taken as
// signed, 2^32 too little, and acc is added to make up. The second step halves once more at the
// end, so that its rounding term cannot overflow.
template <typename V>
struct TwoStepWide {
  using Int = typename V::Int;
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  Int left;                  // 31 - rshift; 32 (all bits out) where the multiplier is 0
  Int doubled, doubled_odd;  // 2 * multiplier - 2^32
  Int shift, last;           // right - 1 and 1, or 0 and 0 without a second step
  typename V::Mask away;     // whose second step is away from zero

  static TwoStepWide Load(const RequantArgs& q, int64_t entry) {
    const Int zero = V::Set(0), one = V::Set(1), low_bits = V::Set(63);
    const Int multiplier = V::Load(q.multiplier + entry);
    const Int words = V::Load(q.rshift + entry);
    const Int right = V::Sub(V::And(words, low_bits), V::Set(31));
    const auto second = V::Greater(right, zero);
    TwoStepWide s;
    s.left = V::Max(V::Sub(zero, right), zero);
    s.left = V::Select(V::Equal(multiplier, zero), V::Set(32), s.left);
    s.doubled = V::Add(multiplier, multiplier);
    s.doubled_odd = V::OddLanes(s.doubled);
    s.shift = V::Keep(second, V::Sub(right, one));
    s.last = V::Keep(second, one);
    s.away =
        q.rounding == Rounding::kTwoStep ? second : V::Both(second, V::Greater(words, low_bits));
    return s;
  }
  Int Scale(Int acc) const {
    const Int a = V::ShiftLeft(acc, left), half = V::Set64(int64_t{1} << 31);
    const Int even = V::Add64(V::MulEven(a, doubled), half);
    const Int odd = V::Add64(V::MulEven(V::OddLanes(a), doubled_odd), half);
    const Int first = V::Add(V::HighHalves(even, odd), a);
    const Int p = V::AddWhere(away, first, V::template ShiftRight<31>(first));
    return V::ShiftRight(V::Add(V::ShiftRight(p, shift), last), last);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_TWO_STEP_H_
