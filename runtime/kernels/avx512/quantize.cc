#include "runtime/kernels/avx512/quantize.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

#define RSHIFT_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]

struct Constants {
  __m512 factor;  // the scale, or its reciprocal
  __m512 most;    // the conversion makes numbers beyond 2^31 negative
  __m512i zero, lo, hi, flip, order;
};

RSHIFT_AVX512 inline Constants LoadConstantsAvx512(const QuantizeArgs& p, float factor) {
  // As in avx512vnni/requant.h, u8 results are 128 lower until the end.
  const int32_t bias = p.hi > 127 ? 128 : 0;
  const auto byte = [](int32_t v) { return static_cast<char>(v); };
  return {_mm512_set1_ps(factor),
          _mm512_set1_ps(static_cast<float>(p.hi - p.zero)),
          _mm512_set1_epi16(static_cast<int16_t>(p.zero - bias)),
          _mm512_set1_epi8(byte(p.lo - bias)),
          _mm512_set1_epi8(byte(p.hi - bias)),
          _mm512_set1_epi8(byte(bias)),
          _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)};
}

// NaN gives 0: the zero point.
template <bool kReciprocal>
RSHIFT_AVX512 inline __m512i RoundSixteenAvx512(const Constants& c, __m512 x) {
  const __m512 v = kReciprocal ? _mm512_mul_ps(x, c.factor) : _mm512_div_ps(x, c.factor);
  const __mmask16 number = _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
  return _mm512_maskz_cvtps_epi32(number, _mm512_min_ps(v, c.most));
}

template <bool kReciprocal>
RSHIFT_AVX512 inline __m512i QuantizeBytesAvx512(const Constants& c, __m512 x0, __m512 x1,
                                                 __m512 x2, __m512 x3) {
  const __m512i low = _mm512_packs_epi32(RoundSixteenAvx512<kReciprocal>(c, x0),
                                         RoundSixteenAvx512<kReciprocal>(c, x1));
  const __m512i high = _mm512_packs_epi32(RoundSixteenAvx512<kReciprocal>(c, x2),
                                          RoundSixteenAvx512<kReciprocal>(c, x3));
  const __m512i y =
      _mm512_packs_epi16(_mm512_adds_epi16(low, c.zero), _mm512_adds_epi16(high, c.zero));
  return _mm512_permutexvar_epi32(
      c.order, _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(y, c.lo), c.hi), c.flip));
}

template <bool kReciprocal>
RSHIFT_AVX512 void QuantizeRangeAvx512(const QuantizeArgs& args, float factor, int64_t i,
                                       int64_t end) {
  const Constants c = LoadConstantsAvx512(args, factor);
  for (; i + 64 <= end; i += 64) {
    const float* x = args.x + i;
    _mm512_storeu_si512(args.y + i, QuantizeBytesAvx512<kReciprocal>(
                                        c, _mm512_loadu_ps(x), _mm512_loadu_ps(x + 16),
                                        _mm512_loadu_ps(x + 32), _mm512_loadu_ps(x + 48)));
  }
  if (i >= end) return;
  __m512 x[4];
  for (int64_t part = 0; part < 4; ++part) {
    const int64_t left = end - i - 16 * part;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : left <= 0 ? 0 : (1 << left) - 1);
    x[part] = _mm512_maskz_loadu_ps(mask, args.x + i + 16 * part);
  }
  _mm512_mask_storeu_epi8(args.y + i, (__mmask64{1} << (end - i)) - 1,
                          QuantizeBytesAvx512<kReciprocal>(c, x[0], x[1], x[2], x[3]));
}

}  // namespace

RSHIFT_AVX512 void QuantizeEvenAvx512(const QuantizeArgs& args, int64_t begin,
                                      int64_t end) noexcept {
  QuantizeRangeAvx512<false>(args, args.scale, begin, end);
}

RSHIFT_AVX512 void QuantizeEvenByReciprocalAvx512(const QuantizeArgs& args, int64_t begin,
                                                  int64_t end) noexcept {
  QuantizeRangeAvx512<true>(args, 1.0f / args.scale, begin, end);
}

}  // namespace rshift
#endif
