// The forms of requant.h whose scale is a float; what a form is, is said there. The formulas
// are quantize/numerics/{float_scale,half_float,double_scale}.h's. Round to nearest even is the
// thread's mode; NaN cannot arise (scales and biases are finite, and 0 is never met by infinity).
// A conversion gives INT32_MIN for what no s32 holds: right below, so only the upper end is
// clamped.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_FLOAT_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_FLOAT_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

constexpr float kBeyondBytes = 4096.0f;  // plus any zero point, above every hi

struct FloatEven {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  __m512 scale;

  static FloatEven Load(const RequantArgs& q, int64_t entry) {
    return {_mm512_loadu_ps(q.scale + entry)};
  }
  __m512i Scale(__m512i acc) const {
    const __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), scale);
    return _mm512_cvtps_epi32(_mm512_min_ps(v, _mm512_set1_ps(kBeyondBytes)));
  }
};

struct FloatZeroEven {
  static constexpr bool kAddsZero = true, kHeld = false, kWords = false;
  __m512 bias, scale, zero;

  static FloatZeroEven Load(const RequantArgs& q, int64_t entry) {
    return {_mm512_loadu_ps(q.bias_f + entry), _mm512_loadu_ps(q.scale + entry),
            _mm512_set1_ps(static_cast<float>(q.zero_y))};
  }
  __m512i Scale(__m512i acc) const {
    const __m512 v = _mm512_mul_ps(_mm512_add_ps(_mm512_cvtepi32_ps(acc), bias), scale);
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_add_ps(v, zero), _mm512_set1_ps(kBeyondBytes)));
  }
};

// Half away from zero: the greatest double below 1/2 is added, with v's sign, and the sum cut off.
// (1/2 itself would carry its greatest neighbour below over to 1.)
struct DoubleAway {
  static constexpr bool kAddsZero = false, kHeld = false, kWords = false;
  __m512d scale_low, scale_high;  // channels 0..7 and 8..15

  static DoubleAway Load(const RequantArgs& q, int64_t entry) {
    const __m512i upper = _mm512_loadu_si512(q.multiplier + entry);
    const __m512i lower = _mm512_loadu_si512(q.rshift + entry);
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    return {_mm512_castsi512_pd(_mm512_permutex2var_epi32(lower, first, upper)),
            _mm512_castsi512_pd(_mm512_permutex2var_epi32(lower, second, upper))};
  }
  static __m256i ScaleEight(__m256i acc, __m512d scale) {
    const __m512d half = _mm512_set1_pd(0.49999999999999994), sign = _mm512_set1_pd(-0.0);
    const __m512d v = _mm512_min_pd(_mm512_mul_pd(_mm512_cvtepi32_pd(acc), scale),
                                    _mm512_set1_pd(double{kBeyondBytes}));
    const __m512d half_by_sign = _mm512_or_pd(_mm512_and_pd(v, sign), half);
    return _mm512_cvttpd_epi32(_mm512_add_pd(v, half_by_sign));
  }
  __m512i Scale(__m512i acc) const {
    const __m256i low = ScaleEight(_mm512_castsi512_si256(acc), scale_low);
    const __m256i high = ScaleEight(_mm512_extracti64x4_epi64(acc, 1), scale_high);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
};

// Nearest binary16, ties to even, and back.
inline __m512 ThroughHalf(__m512 v) {
  return _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

// No relu, nothing applied twice, ties to even.
inline bool IsPlain(const HalfArgs& half) {
  return !half.relu && !half.sqrt_dequant && !half.sqrt_quant && half.mode == RealRounding::kEven;
}

// Where HalfArgs is plain.
struct HalfFloat {
  static constexpr bool kAddsZero = true, kHeld = false, kWords = false;  // in the offset
  __m512 scale, bias, quant_scale, offset;

  static HalfFloat Load(const RequantArgs& q, int64_t entry) {
    return {_mm512_loadu_ps(q.scale + entry), _mm512_loadu_ps(q.bias_f + entry),
            _mm512_set1_ps(q.half.quant_scale), _mm512_set1_ps(q.half.quant_offset)};
  }
  __m512i Scale(__m512i acc) const {
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), scale);
    const __m512 h = ThroughHalf(_mm512_add_ps(ThroughHalf(product), bias));
    const __m512 v = _mm512_add_ps(_mm512_mul_ps(h, quant_scale), offset);
    return _mm512_cvtps_epi32(_mm512_min_ps(v, _mm512_set1_ps(kBeyondBytes)));
  }
};

// With every attribute.
struct HalfFloatAny {
  static constexpr bool kAddsZero = true, kHeld = false, kWords = false;  // in the offset
  __m512 scale, scale_again, bias, least, quant_scale, quant_scale_again, offset;
  RealRounding mode;

  static HalfFloatAny Load(const RequantArgs& q, int64_t entry) {
    const HalfArgs& half = q.half;
    const __m512 one = _mm512_set1_ps(1.0f), scale = _mm512_loadu_ps(q.scale + entry);
    const __m512 quant_scale = _mm512_set1_ps(half.quant_scale);
    return {.scale = scale,
            .scale_again = half.sqrt_dequant ? scale : one,
            .bias = _mm512_loadu_ps(q.bias_f + entry),
            .least = _mm512_set1_ps(half.relu ? 0.0f : -__builtin_inff()),
            .quant_scale = quant_scale,
            .quant_scale_again = half.sqrt_quant ? quant_scale : one,
            .offset = _mm512_set1_ps(half.quant_offset),
            .mode = half.mode};
  }
  __m512i Scale(__m512i acc) const {
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), scale);
    const __m512 sum = _mm512_add_ps(ThroughHalf(_mm512_mul_ps(product, scale_again)), bias);
    const __m512 h = _mm512_max_ps(ThroughHalf(sum), least);
    const __m512 v = _mm512_mul_ps(_mm512_mul_ps(h, quant_scale), quant_scale_again);
    return Round(_mm512_min_ps(_mm512_add_ps(v, offset), _mm512_set1_ps(kBeyondBytes)));
  }
  // The mode is the same for a whole command: the branch is always predicted.
  __m512i Round(__m512 v) const {
    switch (mode) {
      case RealRounding::kEven:
        break;
      case RealRounding::kAway: {  // as in DoubleAway
        const __m512 half = _mm512_set1_ps(0.49999997f), sign = _mm512_set1_ps(-0.0f);
        return _mm512_cvttps_epi32(_mm512_add_ps(v, _mm512_or_ps(_mm512_and_ps(v, sign), half)));
      }
      case RealRounding::kFloor:
        return _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
      case RealRounding::kCeil:
        return _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
      case RealRounding::kTruncate:
        return _mm512_cvttps_epi32(v);
    }
    return _mm512_cvtps_epi32(v);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_REQUANT_FLOAT_H_
