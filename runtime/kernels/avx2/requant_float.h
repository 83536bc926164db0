// The forms of requant.h whose scale is a float; what a form is, is said there. The formulas
// are quantize/numerics/{float_scale,half_float,double_scale}.h's; the reasons stand in
// avx512vnni/requant_float.h. Without embedded rounding modes, but with the same values.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_FLOAT_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_FLOAT_H_

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

constexpr float kBeyondBytes = 4096.0f;  // plus any zero point, above every hi

struct FloatEven {
  static constexpr bool kAddsZero = false;
  __m256 scale;

  static FloatEven Load(const RequantArgs& q, int64_t entry) {
    return {_mm256_loadu_ps(q.scale + entry)};
  }
  __m256i Scale(__m256i acc) const {
    const __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), scale);
    return _mm256_cvtps_epi32(_mm256_min_ps(v, _mm256_set1_ps(kBeyondBytes)));
  }
};

struct FloatZeroEven {
  static constexpr bool kAddsZero = true;
  __m256 bias, scale, zero;

  static FloatZeroEven Load(const RequantArgs& q, int64_t entry) {
    return {_mm256_loadu_ps(q.bias_f + entry), _mm256_loadu_ps(q.scale + entry),
            _mm256_set1_ps(static_cast<float>(q.zero_y))};
  }
  __m256i Scale(__m256i acc) const {
    const __m256 v = _mm256_mul_ps(_mm256_add_ps(_mm256_cvtepi32_ps(acc), bias), scale);
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_add_ps(v, zero), _mm256_set1_ps(kBeyondBytes)));
  }
};

// Half away from zero: the greatest double below 1/2 is added, with v's sign, and the sum cut off.
struct DoubleAway {
  static constexpr bool kAddsZero = false;
  __m256d scale_low, scale_high;  // channels 0..3 and 4..7

  static DoubleAway Load(const RequantArgs& q, int64_t entry) {
    const auto load = [entry](const int32_t* p) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + entry));
    };
    const __m256i upper = load(q.multiplier), lower = load(q.rshift);
    const __m256i a = _mm256_unpacklo_epi32(lower, upper);  // 0, 1, 4, 5
    const __m256i b = _mm256_unpackhi_epi32(lower, upper);  // 2, 3, 6, 7
    return {_mm256_castsi256_pd(_mm256_permute2x128_si256(a, b, 0x20)),
            _mm256_castsi256_pd(_mm256_permute2x128_si256(a, b, 0x31))};
  }
  static __m128i ScaleFour(__m128i acc, __m256d scale) {
    const __m256d half = _mm256_set1_pd(0.49999999999999994), sign = _mm256_set1_pd(-0.0);
    const __m256d v = _mm256_min_pd(_mm256_mul_pd(_mm256_cvtepi32_pd(acc), scale),
                                    _mm256_set1_pd(double{kBeyondBytes}));
    return _mm256_cvttpd_epi32(_mm256_add_pd(v, _mm256_or_pd(_mm256_and_pd(v, sign), half)));
  }
  __m256i Scale(__m256i acc) const {
    return _mm256_setr_m128i(ScaleFour(_mm256_castsi256_si128(acc), scale_low),
                             ScaleFour(_mm256_extracti128_si256(acc, 1), scale_high));
  }
};

// Nearest binary16, ties to even, and back.
inline __m256 ThroughHalf(__m256 v) {
  return _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

// No relu, nothing applied twice, ties to even.
inline bool IsPlain(const HalfArgs& half) {
  return !half.relu && !half.sqrt_dequant && !half.sqrt_quant && half.mode == RealRounding::kEven;
}

// Where HalfArgs is plain.
struct HalfFloat {
  static constexpr bool kAddsZero = true;  // in the offset
  __m256 scale, bias, quant_scale, offset;

  static HalfFloat Load(const RequantArgs& q, int64_t entry) {
    return {_mm256_loadu_ps(q.scale + entry), _mm256_loadu_ps(q.bias_f + entry),
            _mm256_set1_ps(q.half.quant_scale), _mm256_set1_ps(q.half.quant_offset)};
  }
  __m256i Scale(__m256i acc) const {
    const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), scale);
    const __m256 h = ThroughHalf(_mm256_add_ps(ThroughHalf(product), bias));
    const __m256 v = _mm256_add_ps(_mm256_mul_ps(h, quant_scale), offset);
    return _mm256_cvtps_epi32(_mm256_min_ps(v, _mm256_set1_ps(kBeyondBytes)));
  }
};

// With every attribute.
struct HalfFloatAny {
  static constexpr bool kAddsZero = true;  // in the offset
  __m256 scale, scale_again, bias, least, quant_scale, quant_scale_again, offset;
  RealRounding mode;

  static HalfFloatAny Load(const RequantArgs& q, int64_t entry) {
    const HalfArgs& half = q.half;
    const __m256 one = _mm256_set1_ps(1.0f), scale = _mm256_loadu_ps(q.scale + entry);
    const __m256 quant_scale = _mm256_set1_ps(half.quant_scale);
    return {.scale = scale,
            .scale_again = half.sqrt_dequant ? scale : one,
            .bias = _mm256_loadu_ps(q.bias_f + entry),
            .least = _mm256_set1_ps(half.relu ? 0.0f : -__builtin_inff()),
            .quant_scale = quant_scale,
            .quant_scale_again = half.sqrt_quant ? quant_scale : one,
            .offset = _mm256_set1_ps(half.quant_offset),
            .mode = half.mode};
  }
  __m256i Scale(__m256i acc) const {
    const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), scale);
    const __m256 sum = _mm256_add_ps(ThroughHalf(_mm256_mul_ps(product, scale_again)), bias);
    const __m256 h = _mm256_max_ps(ThroughHalf(sum), least);
    const __m256 v = _mm256_mul_ps(_mm256_mul_ps(h, quant_scale), quant_scale_again);
    return Round(_mm256_min_ps(_mm256_add_ps(v, offset), _mm256_set1_ps(kBeyondBytes)));
  }
  // The mode is the same for a whole command: the branch is always predicted.
  __m256i Round(__m256 v) const {
    switch (mode) {
      case RealRounding::kEven:
        break;
      case RealRounding::kAway: {  // as in DoubleAway
        const __m256 half = _mm256_set1_ps(0.49999997f), sign = _mm256_set1_ps(-0.0f);
        return _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_or_ps(_mm256_and_ps(v, sign), half)));
      }
      case RealRounding::kFloor:
        return _mm256_cvttps_epi32(_mm256_floor_ps(v));
      case RealRounding::kCeil:
        return _mm256_cvttps_epi32(_mm256_ceil_ps(v));
      case RealRounding::kTruncate:
        return _mm256_cvttps_epi32(v);
    }
    return _mm256_cvtps_epi32(v);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_REQUANT_FLOAT_H_
