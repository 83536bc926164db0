// From int32 accumulators to requantized values, 16 channels at a time, for every rounding of
// base/rounding.h (post-operations: finish.h). Needs AVX-512 F, BW, DQ, VL. What it computes is
// quantize/numerics/requantize.h, bit for bit.
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
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/avx512vnni/requant_float.h"
#include "runtime/kernels/avx512vnni/requant_integer.h"
#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

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

// What puts the double words of two packings in order.
alignas(64) constexpr int32_t kOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

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
            _mm512_load_si512(kOrder),
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

// No clamp: packing is all that is left to do.
template <bool kUnsigned>
struct Narrow<ByRatioUnclamped<kUnsigned>> {
  __m512i order, words;

  static Narrow Load(const RequantArgs&) {
    return {_mm512_load_si512(kOrder), _mm512_load_si512(kLowerWords)};
  }
  __m512i Words(__m512i v0, __m512i v1) const { return _mm512_permutex2var_epi16(v0, words, v1); }
  __m512i Pack(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return _mm512_permutexvar_epi32(order, PackLanes(v0, v1, v2, v3));
  }
  __m512i PackLanes(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    return PackWords(Words(v0, v1), Words(v2, v3));
  }
  __m512i PackWords(__m512i low, __m512i high) const {
    return kUnsigned ? _mm512_packus_epi16(low, high) : _mm512_packs_epi16(low, high);
  }
};

// --- choice ---

template <typename S>
struct Form {
  using Type = S;
};

// f(Form<S>{}) for the ratio's forms without a clamp; for all others, f(Form<Other>{}).
template <typename Other, typename F>
inline void WithUnclamped(const RequantArgs& q, const F& f) {
  if (q.ratio == nullptr) return f(Form<Other>{});
  if (q.lo == 0 && q.hi == 255) return f(Form<ByRatioUnclamped<true>>{});
  if (q.lo == -128 && q.hi == 127) return f(Form<ByRatioUnclamped<false>>{});
  f(Form<Other>{});
}

// f(Form<S>{}) with the form for q. Not for q.post_ops.
template <typename F>
inline void WithRequant(const RequantArgs& q, const F& f) {
  switch (q.rounding) {
    case Rounding::kHalfUp:
      if (q.ratio != nullptr) return WithUnclamped<ByRatio>(q, f);
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

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_H_
