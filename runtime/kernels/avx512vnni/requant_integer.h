// The integer roundings of requant.h, which says what a form is, and the fused multiply-add
// that stands for one of them.
//
// vpmuldq multiplies even lanes. The odd ones are shifted down for it, and of both products the
// high halves are merged: floor(floor(v / 2^32) / 2^(s - 32)) = floor(v / 2^s), so nothing below is
// needed when s >= 32.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_INTEGER_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_INTEGER_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

inline __m512i OddLanes(__m512i v) { return _mm512_srli_epi64(v, 32); }
inline __m512i EvenLanes(__m512i v) {
  return _mm512_and_si512(v, _mm512_set1_epi64(int64_t{0xffffffff}));
}
// Bits 32..63 of each even and odd product, in the lanes they came from.
inline __m512i HighHalves(__m512i even, __m512i odd) {
  return _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xB1));
}

// kHalfUp with every rshift s >= 33: the rounding term 2^(s-1) is 2^(s-33) of the high halves.
// |high| <= 2^30 and the term <= 2^29: fits s32.
struct HalfUpHigh {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  __m512i multiplier, multiplier_odd, half, shift;

  static HalfUpHigh Of(__m512i multiplier, __m512i rshift) {
    const __m512i shift = _mm512_sub_epi32(rshift, _mm512_set1_epi32(32));
    const __m512i half = _mm512_srli_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(1), shift), 1);
    return {multiplier, OddLanes(multiplier), half, shift};
  }
  static HalfUpHigh Load(const RequantArgs& q, int64_t entry) {
    return Of(_mm512_loadu_si512(q.multiplier + entry), _mm512_loadu_si512(q.rshift + entry));
  }
  __m512i Scale(__m512i acc) const {
    const __m512i high = HighHalves(_mm512_mul_epi32(acc, multiplier),
                                    _mm512_mul_epi32(OddLanes(acc), multiplier_odd));
    return _mm512_srav_epi32(_mm512_add_epi32(high, half), shift);
  }
};

// The same with what does not depend on the accumulator made at load (RequantArgs::acc_factor 1):
// the common case, in six operations.
struct HalfUpFolded {
  static constexpr bool kAddsZero = true, kHeld = true, kWords = false;
  __m512i multiplier, multiplier_odd, half, shift;

  static HalfUpFolded Load(const RequantArgs& q, int64_t entry) {
    const __m512i multiplier = _mm512_loadu_si512(q.multiplier + entry);
    return {multiplier, OddLanes(multiplier), _mm512_loadu_si512(q.high_half + entry),
            _mm512_loadu_si512(q.high_shift + entry)};
  }
  __m512i Scale(__m512i acc) const {
    const __m512i high = HighHalves(_mm512_mul_epi32(acc, multiplier),
                                    _mm512_mul_epi32(OddLanes(acc), multiplier_odd));
    return _mm512_srav_epi32(_mm512_add_epi32(high, half), shift);
  }
};

// Where one fused multiply-add is the formula (RequantArgs::ratio): two operations. Behind the
// point of 1.5 * 2^23 there is no fraction, so that the sum is rounded to an integer, which its
// lower bits are.
struct ByRatio {
  static constexpr bool kAddsZero = true, kHeld = true, kWords = true;
  __m512 ratio, zero;

  static ByRatio Load(const RequantArgs& q, int64_t entry) {
    return Of(q, entry, q.hi > 127 ? 128 : 0);
  }
  static ByRatio Of(const RequantArgs& q, int64_t entry, int32_t held) {
    return {_mm512_loadu_ps(q.ratio + entry),
            _mm512_set1_ps(12582912.0f + static_cast<float>(q.zero_y - held))};
  }
  __m512i Scale(__m512i acc) const {
    return _mm512_castps_si512(_mm512_fmadd_ps(_mm512_cvtepi32_ps(acc), ratio, zero));
  }
};

// The same where the clamp is the range of u8 or of s8, which packing saturates to.
template <bool kUnsigned>
struct ByRatioUnclamped {
  static constexpr bool kAddsZero = true, kHeld = false, kWords = true;
  ByRatio by;

  static ByRatioUnclamped Load(const RequantArgs& q, int64_t entry) {
    return {ByRatio::Of(q, entry, 0)};
  }
  __m512i Scale(__m512i acc) const { return by.Scale(acc); }
};

// acc_factor 4: four times acc keeps two more bits of the product, down to bit 30, which is half a
// unit of the first of two roundings.
struct FourFolded {
  static constexpr bool kAddsZero = true, kHeld = true, kWords = false;
  HalfUpFolded folded;

  static FourFolded Load(const RequantArgs& q, int64_t entry) {
    return {HalfUpFolded::Load(q, entry)};
  }
  __m512i Scale(__m512i acc) const { return folded.Scale(_mm512_slli_epi32(acc, 2)); }
};

// The same where some second step is away from zero: 2^31 less, that is 2 of bit 30, for a negative
// accumulator (see TwoStepHigh).
struct TwoStepFolded {
  static constexpr bool kAddsZero = true, kHeld = true, kWords = false;
  HalfUpFolded folded;
  __mmask16 away;

  static TwoStepFolded Load(const RequantArgs& q, int64_t entry) {
    const int32_t least = q.rounding == Rounding::kTwoStep ? 32 : 64 + 32;
    const __m512i rshift = _mm512_loadu_si512(q.rshift + entry);
    return {HalfUpFolded::Load(q, entry),
            _mm512_cmpge_epi32_mask(rshift, _mm512_set1_epi32(least))};
  }
  __m512i Scale(__m512i acc) const {
    const __mmask16 nudged = _kand_mask16(_mm512_movepi32_mask(acc), away);
    const __m512i half =
        _mm512_mask_sub_epi32(folded.half, nudged, folded.half, _mm512_set1_epi32(2));
    const __m512i a = _mm512_slli_epi32(acc, 2);
    const __m512i high = HighHalves(_mm512_mul_epi32(a, folded.multiplier),
                                    _mm512_mul_epi32(OddLanes(a), folded.multiplier_odd));
    return _mm512_srav_epi32(_mm512_add_epi32(high, half), folded.shift);
  }
};

// What brings any rshift in [0, 62] to one >= 33, for results that saturate to 8 bits:
// * rshift below 20 becomes 20: with a multiplier of 2^30 and more every accumulator but 0 gives
//   |y| >= 2^10, with either.
// * below 33, the accumulator is shifted left by what is missing (1..13), after a clamp to 2^18:
//   what lies beyond gives |y| >= 2^15.
struct Lift {
  static constexpr int32_t kMost = (1 << 18) - 1;
  __m512i left;
  __mmask16 lifted;

  // Returns the new rshift in [33, 62].
  static __m512i Load(__m512i rshift, Lift* lift) {
    const __m512i least = _mm512_set1_epi32(33);
    rshift = _mm512_max_epi32(rshift, _mm512_set1_epi32(20));
    const __m512i lifted = _mm512_max_epi32(rshift, least);
    lift->left = _mm512_sub_epi32(lifted, rshift);
    lift->lifted = _mm512_cmplt_epi32_mask(rshift, least);
    return lifted;
  }
};

// kHalfUp with any rshift.
struct HalfUpWide {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  HalfUpHigh high;
  Lift lift;

  static HalfUpWide Load(const RequantArgs& q, int64_t entry) {
    HalfUpWide s;
    const __m512i rshift = Lift::Load(_mm512_loadu_si512(q.rshift + entry), &s.lift);
    s.high = HalfUpHigh::Of(_mm512_loadu_si512(q.multiplier + entry), rshift);
    return s;
  }
  __m512i Scale(__m512i acc) const {
    const __m512i most = _mm512_set1_epi32(Lift::kMost), least = _mm512_set1_epi32(~Lift::kMost);
    acc = _mm512_mask_min_epi32(acc, lift.lifted, acc, most);
    acc = _mm512_mask_max_epi32(acc, lift.lifted, acc, least);
    return high.Scale(_mm512_sllv_epi32(acc, lift.left));
  }
};

// kHalfAway with any rshift: |acc| (up to 2^31: unsigned) half up, then the sign again.
struct HalfAway {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  HalfUpHigh high;
  Lift lift;

  static HalfAway Load(const RequantArgs& q, int64_t entry) {
    const HalfUpWide s = HalfUpWide::Load(q, entry);
    return {s.high, s.lift};
  }
  __m512i Scale(__m512i acc) const {
    const __mmask16 negative = _mm512_movepi32_mask(acc);
    __m512i a = _mm512_abs_epi32(acc);
    a = _mm512_mask_min_epu32(a, lift.lifted, a, _mm512_set1_epi32(Lift::kMost));
    a = _mm512_sllv_epi32(a, lift.left);
    const __m512i product = HighHalves(_mm512_mul_epu32(a, high.multiplier),
                                       _mm512_mul_epu32(OddLanes(a), high.multiplier_odd));
    const __m512i y = _mm512_srlv_epi32(_mm512_add_epi32(product, high.half), high.shift);
    return _mm512_mask_sub_epi32(y, negative, _mm512_setzero_si512(), y);
  }
};

// kTwoStepUp with every rshift s in [32, 62]. Both roundings are half up, so they are one:
// floor((floor(v / 2^31 + 1/2) + 2^(s-32)) / 2^(s-31)) = floor((v + 2^30 + 2^(s-1)) / 2^s).
struct TwoStepUpHigh {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  __m512i multiplier, multiplier_odd, halves, halves_odd, shift;

  static TwoStepUpHigh Load(const RequantArgs& q, int64_t entry) {
    const __m512i rshift = _mm512_loadu_si512(q.rshift + entry);
    const __m512i one = _mm512_set1_epi64(1), first = _mm512_set1_epi64(1 << 30);
    const auto halves = [&](__m512i s) {
      return _mm512_add_epi64(_mm512_srli_epi64(_mm512_sllv_epi64(one, s), 1), first);
    };
    const __m512i multiplier = _mm512_loadu_si512(q.multiplier + entry);
    return {multiplier, OddLanes(multiplier), halves(EvenLanes(rshift)), halves(OddLanes(rshift)),
            _mm512_sub_epi32(rshift, _mm512_set1_epi32(32))};
  }
  __m512i Scale(__m512i acc) const {
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(acc, multiplier), halves);
    const __m512i odd =
        _mm512_add_epi64(_mm512_mul_epi32(OddLanes(acc), multiplier_odd), halves_odd);
    return _mm512_srav_epi32(HighHalves(even, odd), shift);
  }
};

// kTwoStep with every rshift in [32, 62]: the second rounding takes 1 off what the first gave when
// that is negative, that is 2^31 off v, or bit 31 of a negative accumulator. (acc -1 with
// multiplier 2^30 is rounded to 0 first, and multiplier 0 gives 0: the result is 0 with either.)
struct TwoStepHigh {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  TwoStepUpHigh up;

  static TwoStepHigh Load(const RequantArgs& q, int64_t entry) {
    return {TwoStepUpHigh::Load(q, entry)};
  }
  __m512i Scale(__m512i acc) const {
    const __m512i sign = _mm512_set1_epi64(int64_t{1} << 31);
    const __m512i acc_odd = OddLanes(acc);
    const __m512i even_halves = _mm512_sub_epi64(up.halves, _mm512_and_si512(acc, sign));
    const __m512i odd_halves = _mm512_sub_epi64(up.halves_odd, _mm512_and_si512(acc_odd, sign));
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(acc, up.multiplier), even_halves);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(acc_odd, up.multiplier_odd), odd_halves);
    return _mm512_srav_epi32(HighHalves(even, odd), up.shift);
  }
};

// kTwoStep and kTwoStepUp with any rshift, also both among the channels (rshift >= 64).
// The first step is the high half of 2 * acc * multiplier; doubled, the multiplier is taken as
// signed, 2^32 too little, and acc is added to make up. The second halves once more at the end, so
// that its rounding term cannot overflow.
struct TwoStepWide {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  __m512i left;                  // 31 - rshift; 32 (all bits out) where the multiplier is 0
  __m512i doubled, doubled_odd;  // 2 * multiplier - 2^32
  __m512i shift, last;           // right - 1 and 1, or 0 and 0 without a second step
  __mmask16 away;                // whose second step is away from zero

  static TwoStepWide Load(const RequantArgs& q, int64_t entry) {
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    const __m512i multiplier = _mm512_loadu_si512(q.multiplier + entry);
    __m512i rshift = _mm512_loadu_si512(q.rshift + entry);
    const __mmask16 marked = _mm512_cmpge_epi32_mask(rshift, _mm512_set1_epi32(64));
    rshift = _mm512_and_si512(rshift, _mm512_set1_epi32(63));
    TwoStepWide s;
    const __m512i right = _mm512_sub_epi32(rshift, _mm512_set1_epi32(31));
    s.left = _mm512_max_epi32(_mm512_sub_epi32(zero, right), zero);
    s.left = _mm512_mask_mov_epi32(s.left, _mm512_cmpeq_epi32_mask(multiplier, zero),
                                   _mm512_set1_epi32(32));
    s.doubled = _mm512_add_epi32(multiplier, multiplier);
    s.doubled_odd = OddLanes(s.doubled);
    const __mmask16 second = _mm512_cmpgt_epi32_mask(right, zero);
    s.shift = _mm512_maskz_sub_epi32(second, right, one);
    s.last = _mm512_maskz_mov_epi32(second, one);
    s.away = q.rounding == Rounding::kTwoStep ? second : static_cast<__mmask16>(second & marked);
    return s;
  }
  __m512i Scale(__m512i acc) const {
    const __m512i a = _mm512_sllv_epi32(acc, left), half = _mm512_set1_epi64(int64_t{1} << 31);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(a, doubled), half);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(OddLanes(a), doubled_odd), half);
    __m512i p = _mm512_add_epi32(HighHalves(even, odd), a);
    p = _mm512_mask_add_epi32(p, away, p, _mm512_srai_epi32(p, 31));
    return _mm512_srav_epi32(_mm512_add_epi32(_mm512_srav_epi32(p, shift), last), last);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_INTEGER_H_
