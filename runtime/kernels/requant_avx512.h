// From int32 accumulators to requantized values, 16 channels at a time, for every rounding of
// base/rounding.h (post-operations: finish.h). Needs AVX-512 F, BW, DQ, VL. Included by kernel
// units only (see conv_driver.h). What it computes is quantize/numerics/requantize.h, bit for bit.
//
// A form is a struct S:
//   static S Load(const RequantArgs& q, int64_t entry);   constants of channels entry .. entry + 15
//   __m512i Scale(__m512i acc) const;     16 complete accumulators, bias included -> v, as s32.
//                  The result is clamp(v + zero_y, lo, hi), and still is when v is saturated to
//                  s16.
//   static constexpr bool kAddsZero;      zero_y is in v already and not to be added again
//   static constexpr bool kHeld;          and u8 values are held 128 lower: Narrow has nothing to
//   add
//   static constexpr bool kWords;         v is in the lower 16 bits only; above them is anything
//
// Two ways to finish: Requant<S>, 16 values at a time; Narrow<S>, 64 at a time and cheaper for
// each.
#ifndef RSHIFT_RUNTIME_KERNELS_REQUANT_AVX512_H_
#define RSHIFT_RUNTIME_KERNELS_REQUANT_AVX512_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"
#include "runtime/kernels/requant_avx512_float.h"

namespace rshift {
namespace {

// --- integer forms ---
// vpmuldq multiplies even lanes. The odd ones are shifted down for it, and of both products the
// high halves are merged: floor(floor(v / 2^32) / 2^(s - 32)) = floor(v / 2^s), so nothing below is
// needed when s >= 32.

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
    const int32_t zero = q.zero_y - (q.hi > 127 ? 128 : 0);
    return {_mm512_loadu_ps(q.ratio + entry),
            _mm512_set1_ps(12582912.0f + static_cast<float>(zero))};
  }
  __m512i Scale(__m512i acc) const {
    return _mm512_castps_si512(_mm512_fmadd_ps(_mm512_cvtepi32_ps(acc), ratio, zero));
  }
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

// --- finishing ---

// clamp(v + zero_y, lo, hi), 16 lanes of s32.
template <typename S>
struct Requant {
  S form;
  __m512i zero, lo, hi;  // the bounds are those of v: v + zero_y could leave s32

  static Requant Load(const RequantArgs& q, int64_t entry) {
    const int32_t held = q.hi > 127 ? 128 : 0;
    const int32_t zero = S::kHeld ? held : S::kAddsZero ? 0 : q.zero_y;
    return {S::Load(q, entry), _mm512_set1_epi32(zero), _mm512_set1_epi32(q.lo - zero),
            _mm512_set1_epi32(q.hi - zero)};
  }
  __m512i Apply(__m512i acc) const {
    __m512i v = form.Scale(acc);
    if constexpr (S::kWords) v = _mm512_srai_epi32(_mm512_slli_epi32(v, 16), 16);
    const __m512i y = _mm512_min_epi32(_mm512_max_epi32(v, lo), hi);
    return S::kAddsZero && !S::kHeld ? y : _mm512_add_epi32(y, zero);
  }
};

// The lower words of two registers of s32, in the order of _mm512_packs_epi32.
alignas(64) constexpr uint16_t kLowerWords[32] = {0,  2,  4,  6,  32, 34, 36, 38, 8,  10, 12,
                                                  14, 40, 42, 44, 46, 16, 18, 20, 22, 48, 50,
                                                  52, 54, 24, 26, 28, 30, 56, 58, 60, 62};

// 64 values at a time -> bytes in order: saturates to s16, adds zero_y, saturates to s8 and clamps
// there. u8 values (hi > 127) are held 128 lower until the end.
template <typename S>
struct Narrow {
  __m512i zero, lo, hi, flip, order, words;

  static Narrow Load(const RequantArgs& q) {
    const int32_t held = q.hi > 127 ? 128 : 0, zero = S::kAddsZero ? 0 : q.zero_y;
    const auto all = [](int32_t v) { return _mm512_set1_epi8(static_cast<char>(v)); };
    return {_mm512_set1_epi16(static_cast<int16_t>(zero - held)),
            all(q.lo - held),
            all(q.hi - held),
            all(held),
            _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
            _mm512_load_si512(kLowerWords)};
  }
  // Two registers of s32, saturated to s16 by lanes.
  __m512i Words(__m512i v0, __m512i v1) const {
    if constexpr (S::kWords) return _mm512_permutex2var_epi16(v0, words, v1);
    return _mm512_packs_epi32(v0, v1);
  }
  // What S::Scale gave for channels 0..15, 16..31, 32..47 and 48..63.
  __m512i Pack(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return _mm512_permutexvar_epi32(order, PackLanes(v0, v1, v2, v3));
  }
  // Where v0 holds channels 16 l .. 16 l + 3 in its lane l, v1 the next four, and so on.
  __m512i PackLanes(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return PackWords(Words(v0, v1), Words(v2, v3));
  }
  // From values saturated to s16, by lanes as _mm512_packs_epi32 leaves them.
  __m512i PackWords(__m512i low, __m512i high) const {
    if constexpr (!S::kHeld) {
      low = _mm512_adds_epi16(low, zero);
      high = _mm512_adds_epi16(high, zero);
    }
    const __m512i bytes = _mm512_packs_epi16(low, high);
    return _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(bytes, lo), hi), flip);
  }
};

// --- choice ---

template <typename S>
struct Form {
  using Type = S;
};

// f(Form<S>{}) with the form for q. Not for q.post_ops.
template <typename F>
inline void WithRequant(const RequantArgs& q, const F& f) {
  switch (q.rounding) {
    case Rounding::kHalfUp:
      if (q.ratio != nullptr) return f(Form<ByRatio>{});
      if (q.acc_factor == 1) return f(Form<HalfUpFolded>{});
      if (q.acc_factor == 4) return f(Form<FourFolded>{});
      return q.min_rshift >= 33 ? f(Form<HalfUpHigh>{}) : f(Form<HalfUpWide>{});
    case Rounding::kTwoStep:
      if (q.acc_factor == 4) return f(Form<TwoStepFolded>{});
      return q.min_rshift >= 32 ? f(Form<TwoStepHigh>{}) : f(Form<TwoStepWide>{});
    case Rounding::kTwoStepUp:
      if (q.acc_factor == 4) {
        return q.max_rshift <= 62 ? f(Form<FourFolded>{}) : f(Form<TwoStepFolded>{});
      }
      return q.min_rshift >= 32 && q.max_rshift <= 62 ? f(Form<TwoStepUpHigh>{})
                                                      : f(Form<TwoStepWide>{});
    case Rounding::kHalfAway:
      return f(Form<HalfAway>{});
    case Rounding::kFloatEven:
      return f(Form<FloatEven>{});
    case Rounding::kFloatZeroEven:
      return f(Form<FloatZeroEven>{});
    case Rounding::kHalfFloat:
      return IsPlain(q.half) ? f(Form<HalfFloat>{}) : f(Form<HalfFloatAny>{});
    case Rounding::kDoubleAway:
      return f(Form<DoubleAway>{});
  }
}

// RequantizeFn.
inline void RequantizeAll(const RequantArgs& q, const int32_t* acc, int64_t count,
                          uint8_t* dst) noexcept {
  WithRequant(q, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    const S form = S::Load(q, 0);
    const Narrow<S> narrow = Narrow<S>::Load(q);
    for (int64_t i = 0; i < count; i += 64) {
      const auto v = [&](int64_t at) { return form.Scale(_mm512_loadu_si512(acc + i + at)); };
      const __m512i bytes = narrow.Pack(v(0), v(16), v(32), v(48));
      const int64_t left = count - i;
      const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
      _mm512_mask_storeu_epi8(dst + i, mask, bytes);
    }
  });
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_REQUANT_AVX512_H_
