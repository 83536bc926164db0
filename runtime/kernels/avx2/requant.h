// From int32 accumulators to requantized values, 8 channels at a time, for every rounding of
// base/rounding.h (post-operations: finish.h). Needs AVX2, FMA and F16C. What it computes is
// quantize/numerics/requantize.h, bit for bit. The same forms as avx512vnni/requant.h, where the
// reasons stand; AVX2 has no masks, and no arithmetic shift of 64 bits, which no form needs.
//
// A form is a struct S:
//   static S Load(const RequantArgs& q, int64_t entry);   constants of channels entry .. entry + 7
//   __m256i Scale(__m256i acc) const;     8 complete accumulators, bias included -> v, as s32. The
//                  result is clamp(v + zero_y, lo, hi), and still is when v is saturated to s16.
//   static constexpr bool kAddsZero;      zero_y is in v already and not to be added again
//
// Two ways to finish: Requant<S>, 8 values at a time; Narrow, 16 at a time and cheaper for each.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/avx2/requant_float.h"
#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

inline __m256i LoadEight(const int32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// --- integer forms ---

inline __m256i OddLanes(__m256i v) { return _mm256_srli_epi64(v, 32); }
inline __m256i EvenLanes(__m256i v) { return _mm256_blend_epi32(v, _mm256_setzero_si256(), 0xaa); }
// Bits 32..63 of each even and odd product, in the lanes they came from.
inline __m256i HighHalves(__m256i even, __m256i odd) {
  return _mm256_blend_epi32(OddLanes(even), odd, 0xaa);
}

// Where one fused multiply-add is the formula (RequantArgs::ratio): the integer is in the lower
// bits of the sum.
struct ByRatio {
  static constexpr bool kAddsZero = false;
  static constexpr float kPoint = 12582912.0f;  // 1.5 * 2^23
  __m256 ratio;

  static ByRatio Load(const RequantArgs& q, int64_t entry) {
    return {_mm256_loadu_ps(q.ratio + entry)};
  }
  __m256i Scale(__m256i acc) const {
    const __m256 point = _mm256_set1_ps(kPoint);
    const __m256 sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(acc), ratio, point);
    return _mm256_sub_epi32(_mm256_castps_si256(sum), _mm256_castps_si256(point));
  }
};

// kHalfUp with every rshift >= 33.
struct HalfUpHigh {
  static constexpr bool kAddsZero = false;
  __m256i multiplier, multiplier_odd, half, shift;

  static HalfUpHigh Of(__m256i multiplier, __m256i rshift) {
    const __m256i shift = _mm256_sub_epi32(rshift, _mm256_set1_epi32(32));
    const __m256i half = _mm256_srli_epi32(_mm256_sllv_epi32(_mm256_set1_epi32(1), shift), 1);
    return {multiplier, OddLanes(multiplier), half, shift};
  }
  static HalfUpHigh Load(const RequantArgs& q, int64_t entry) {
    return Of(LoadEight(q.multiplier + entry), LoadEight(q.rshift + entry));
  }
  __m256i Scale(__m256i acc) const {
    const __m256i high = HighHalves(_mm256_mul_epi32(acc, multiplier),
                                    _mm256_mul_epi32(OddLanes(acc), multiplier_odd));
    return _mm256_srav_epi32(_mm256_add_epi32(high, half), shift);
  }
};

// Any rshift in [0, 62] to one >= 33 by a left shift of the accumulator, which is clamped to 2^18
// first where it is shifted.
struct Lift {
  static constexpr int32_t kMost = (1 << 18) - 1;
  __m256i left;
  __m256i most;  // kMost where shifted, else 2^31 - 1

  // Returns the new rshift in [33, 62].
  static __m256i Load(__m256i rshift, Lift* lift) {
    const __m256i least = _mm256_set1_epi32(33);
    rshift = _mm256_max_epi32(rshift, _mm256_set1_epi32(20));
    const __m256i lifted = _mm256_cmpgt_epi32(least, rshift);
    const __m256i to = _mm256_max_epi32(rshift, least);
    lift->left = _mm256_sub_epi32(to, rshift);
    lift->most = _mm256_blendv_epi8(_mm256_set1_epi32(INT32_MAX), _mm256_set1_epi32(kMost), lifted);
    return to;
  }
};

// kHalfUp with any rshift.
struct HalfUpWide {
  static constexpr bool kAddsZero = false;
  HalfUpHigh high;
  Lift lift;

  static HalfUpWide Load(const RequantArgs& q, int64_t entry) {
    HalfUpWide s;
    const __m256i rshift = Lift::Load(LoadEight(q.rshift + entry), &s.lift);
    s.high = HalfUpHigh::Of(LoadEight(q.multiplier + entry), rshift);
    return s;
  }
  __m256i Scale(__m256i acc) const {
    const __m256i least = _mm256_xor_si256(lift.most, _mm256_set1_epi32(-1));
    acc = _mm256_max_epi32(_mm256_min_epi32(acc, lift.most), least);
    return high.Scale(_mm256_sllv_epi32(acc, lift.left));
  }
};

// kHalfAway with any rshift: |acc| half up, then the sign again. 2^31 is held as unsigned.
struct HalfAway {
  static constexpr bool kAddsZero = false;
  HalfUpHigh high;
  __m256i left, most;

  static HalfAway Load(const RequantArgs& q, int64_t entry) {
    const HalfUpWide s = HalfUpWide::Load(q, entry);
    const __m256i all = _mm256_set1_epi32(-1);
    const __m256i lifted = _mm256_cmpgt_epi32(s.lift.left, _mm256_setzero_si256());
    return {s.high, s.lift.left, _mm256_blendv_epi8(all, s.lift.most, lifted)};
  }
  __m256i Scale(__m256i acc) const {
    const __m256i a = _mm256_sllv_epi32(_mm256_min_epu32(_mm256_abs_epi32(acc), most), left);
    const __m256i product = HighHalves(_mm256_mul_epu32(a, high.multiplier),
                                       _mm256_mul_epu32(OddLanes(a), high.multiplier_odd));
    const __m256i y = _mm256_srlv_epi32(_mm256_add_epi32(product, high.half), high.shift);
    return _mm256_sign_epi32(y, acc);  // acc 0 gave y 0
  }
};

// kTwoStepUp with every rshift in [32, 62]: (v + 2^30 + 2^(rshift-1)) >> rshift.
struct TwoStepUpHigh {
  static constexpr bool kAddsZero = false;
  __m256i multiplier, multiplier_odd, halves, halves_odd, shift;

  static TwoStepUpHigh Load(const RequantArgs& q, int64_t entry) {
    const __m256i rshift = LoadEight(q.rshift + entry),
                  multiplier = LoadEight(q.multiplier + entry);
    const __m256i one = _mm256_set1_epi64x(1), first = _mm256_set1_epi64x(1 << 30);
    const auto halves = [&](__m256i s) {
      return _mm256_add_epi64(_mm256_srli_epi64(_mm256_sllv_epi64(one, s), 1), first);
    };
    return {multiplier, OddLanes(multiplier), halves(EvenLanes(rshift)), halves(OddLanes(rshift)),
            _mm256_sub_epi32(rshift, _mm256_set1_epi32(32))};
  }
  __m256i Scale(__m256i acc) const {
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc, multiplier), halves);
    const __m256i odd =
        _mm256_add_epi64(_mm256_mul_epi32(OddLanes(acc), multiplier_odd), halves_odd);
    return _mm256_srav_epi32(HighHalves(even, odd), shift);
  }
};

// kTwoStep with every rshift in [32, 62]: 2^31 less where acc is negative.
struct TwoStepHigh {
  static constexpr bool kAddsZero = false;
  TwoStepUpHigh up;

  static TwoStepHigh Load(const RequantArgs& q, int64_t entry) {
    return {TwoStepUpHigh::Load(q, entry)};
  }
  __m256i Scale(__m256i acc) const {
    const __m256i sign = _mm256_set1_epi64x(int64_t{1} << 31), acc_odd = OddLanes(acc);
    const __m256i even_halves = _mm256_sub_epi64(up.halves, _mm256_and_si256(acc, sign));
    const __m256i odd_halves = _mm256_sub_epi64(up.halves_odd, _mm256_and_si256(acc_odd, sign));
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc, up.multiplier), even_halves);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(acc_odd, up.multiplier_odd), odd_halves);
    return _mm256_srav_epi32(HighHalves(even, odd), up.shift);
  }
};

// kTwoStep and kTwoStepUp with any rshift, also both among the channels (rshift >= 64).
struct TwoStepWide {
  static constexpr bool kAddsZero = false;
  __m256i left;                  // 31 - rshift; 32 (all bits out) where the multiplier is 0
  __m256i doubled, doubled_odd;  // 2 * multiplier - 2^32
  __m256i shift, last;           // right - 1 and 1, or 0 and 0 without a second step
  __m256i away;                  // all bits where the second step is away from zero

  static TwoStepWide Load(const RequantArgs& q, int64_t entry) {
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
    const __m256i multiplier = LoadEight(q.multiplier + entry);
    __m256i rshift = LoadEight(q.rshift + entry);
    const __m256i marked = _mm256_cmpgt_epi32(rshift, _mm256_set1_epi32(63));
    rshift = _mm256_and_si256(rshift, _mm256_set1_epi32(63));
    const __m256i right = _mm256_sub_epi32(rshift, _mm256_set1_epi32(31));
    const __m256i second = _mm256_cmpgt_epi32(right, zero);
    TwoStepWide s;
    s.left = _mm256_max_epi32(_mm256_sub_epi32(zero, right), zero);
    s.left =
        _mm256_blendv_epi8(s.left, _mm256_set1_epi32(32), _mm256_cmpeq_epi32(multiplier, zero));
    s.doubled = _mm256_add_epi32(multiplier, multiplier);
    s.doubled_odd = OddLanes(s.doubled);
    s.shift = _mm256_and_si256(second, _mm256_sub_epi32(right, one));
    s.last = _mm256_and_si256(second, one);
    s.away = q.rounding == Rounding::kTwoStep ? second : _mm256_and_si256(second, marked);
    return s;
  }
  __m256i Scale(__m256i acc) const {
    const __m256i a = _mm256_sllv_epi32(acc, left), half = _mm256_set1_epi64x(int64_t{1} << 31);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(a, doubled), half);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(OddLanes(a), doubled_odd), half);
    __m256i p = _mm256_add_epi32(HighHalves(even, odd), a);
    p = _mm256_add_epi32(p, _mm256_and_si256(away, _mm256_srai_epi32(p, 31)));
    return _mm256_srav_epi32(_mm256_add_epi32(_mm256_srav_epi32(p, shift), last), last);
  }
};

// --- finishing ---

// clamp(v + zero_y, lo, hi), 8 lanes of s32.
template <typename S>
struct Requant {
  S form;
  __m256i zero, lo, hi;  // the bounds are those of v: v + zero_y could leave s32

  static Requant Load(const RequantArgs& q, int64_t entry) {
    const int32_t zero = S::kAddsZero ? 0 : q.zero_y;
    return {S::Load(q, entry), _mm256_set1_epi32(zero), _mm256_set1_epi32(q.lo - zero),
            _mm256_set1_epi32(q.hi - zero)};
  }
  __m256i Apply(__m256i acc) const {
    const __m256i v = form.Scale(acc);
    const __m256i y = _mm256_min_epi32(_mm256_max_epi32(v, lo), hi);
    return S::kAddsZero ? y : _mm256_add_epi32(y, zero);
  }
};

// 16 values at a time -> bytes in order. Saturates to s16, adds and clamps there, and packs as s8:
// u8 values (hi > 127) are held 128 lower until then.
struct Narrow {
  __m256i zero, lo, hi;
  __m128i flip;

  template <typename S>
  static Narrow Load(const RequantArgs& q) {
    const int32_t held = q.hi > 127 ? 128 : 0, zero = S::kAddsZero ? 0 : q.zero_y;
    const auto all = [](int32_t v) { return _mm256_set1_epi16(static_cast<int16_t>(v)); };
    return {all(zero - held), all(q.lo - held), all(q.hi - held),
            _mm_set1_epi8(static_cast<char>(held))};
  }
  // What S::Scale gave for channels 0..7 and 8..15.
  __m128i Pack(__m256i v0, __m256i v1) const {
    const __m256i v = _mm256_adds_epi16(_mm256_packs_epi32(v0, v1), zero);
    const __m256i y = _mm256_min_epi16(_mm256_max_epi16(v, lo), hi);
    // Channels {0-3, 8-11} and {4-7, 12-15}.
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
    return _mm_shuffle_epi32(_mm_xor_si128(bytes, flip), 0xd8);
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
      return q.min_rshift >= 33 ? f(Form<HalfUpHigh>{}) : f(Form<HalfUpWide>{});
    case Rounding::kTwoStep:
      return q.min_rshift >= 32 ? f(Form<TwoStepHigh>{}) : f(Form<TwoStepWide>{});
    case Rounding::kTwoStepUp:
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

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_H_
