#include "runtime/kernels/finish.h"

#include <algorithm>

#include "quantize/numerics/dynamic.h"
#include "quantize/numerics/half_float.h"
#include "quantize/numerics/requantize.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rshift {
namespace {

constexpr int64_t kMost = 64;  // channels of one call

// The roundings whose words are two integers.
template <Rounding kRounding>
void ByWords(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
             uint8_t* dst) noexcept {
  const int32_t* multiplier = q.multiplier + entry;
  const int32_t* rshift = q.rshift + entry;
  const RequantArgs args = q;  // the bytes may alias it as far as the compiler knows
  for (int64_t i = 0; i < count; ++i) {
    dst[i] = static_cast<uint8_t>(numerics::RequantizeBy(kRounding, acc[i], multiplier[i],
                                                         rshift[i], args.zero_y, args.lo, args.hi));
  }
}

void BySign(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
            uint8_t* dst) noexcept {
  const RequantArgs args = q, negative = *q.negative;
  for (int64_t i = 0; i < count; ++i) {
    const RequantArgs& side = acc[i] < 0 ? negative : args;
    dst[i] = static_cast<uint8_t>(numerics::Requantize(
        acc[i], side.multiplier[entry + i], side.rshift[entry + i], args.zero_y, args.lo, args.hi));
  }
}

// clamp(round(v)) + after for 16 values at a time; [lo, hi] are integers, as float. v is finite or
// infinite.
struct RoundArgs {
  float lo, hi;
  int32_t after;
};

#if defined(__SSE2__)
// The conversion rounds to even (the default mode); after the clamp every value fits 16 bits, and
// of those the low byte is wanted: packing by masks works for s8 and u8 alike.
inline __m128i RoundFour(__m128 v, const RoundArgs& a) {
  v = _mm_min_ps(_mm_max_ps(v, _mm_set1_ps(a.lo)), _mm_set1_ps(a.hi));
  const __m128i y = _mm_add_epi32(_mm_cvtps_epi32(v), _mm_set1_epi32(a.after));
  return _mm_and_si128(y, _mm_set1_epi32(0xff));
}

inline void StoreSixteen(__m128i a, __m128i b, __m128i c, __m128i d, uint8_t* dst) {
  const __m128i low = _mm_packs_epi32(a, b), high = _mm_packs_epi32(c, d);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), _mm_packus_epi16(low, high));
}
#endif

inline uint8_t RoundOne(float v, const RoundArgs& a) {
  if (v < a.lo) v = a.lo;
  if (v > a.hi) v = a.hi;
  return static_cast<uint8_t>(static_cast<int32_t>(numerics::RoundHalfEven(v)) + a.after);
}

void FloatEven(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
               uint8_t* dst) noexcept {
  const float* scale = q.scale + entry;
  const RoundArgs round{static_cast<float>(q.lo - q.zero_y), static_cast<float>(q.hi - q.zero_y),
                        q.zero_y};
  int64_t i = 0;
#if defined(__SSE2__)
  for (; i + 16 <= count; i += 16) {
    const auto four = [&](int64_t at) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(acc + at));
      return RoundFour(_mm_mul_ps(_mm_cvtepi32_ps(x), _mm_loadu_ps(scale + at)), round);
    };
    StoreSixteen(four(i), four(i + 4), four(i + 8), four(i + 12), dst + i);
  }
#endif
  for (; i < count; ++i) dst[i] = RoundOne(static_cast<float>(acc[i]) * scale[i], round);
}

// (float(acc) + bias_f) * scale for all channels.
inline void Scale(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
                  float* value) {
  const float* scale = q.scale + entry;
  const float* bias = q.bias_f + entry;
  for (int64_t i = 0; i < count; ++i) {
    value[i] = numerics::ScaledAccumulator(acc[i], bias[i], scale[i]);
  }
}

void FloatZeroEven(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
                   uint8_t* dst) noexcept {
  float value[kMost];
  Scale(q, entry, acc, count, value);
  const RoundArgs round{static_cast<float>(q.lo), static_cast<float>(q.hi), 0};
  const auto zero = static_cast<float>(q.zero_y);
  int64_t i = 0;
#if defined(__SSE2__)
  for (; i + 16 <= count; i += 16) {
    const auto four = [&](int64_t at) {
      return RoundFour(_mm_add_ps(_mm_loadu_ps(value + at), _mm_set1_ps(zero)), round);
    };
    StoreSixteen(four(i), four(i + 4), four(i + 8), four(i + 12), dst + i);
  }
#endif
  for (; i < count; ++i) dst[i] = RoundOne(value[i] + zero, round);
}

void HalfFloat(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
               uint8_t* dst) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    const float h =
        numerics::DequantizeHalf(acc[i], q.scale[entry + i], q.bias_f[entry + i], q.half);
    dst[i] = static_cast<uint8_t>(numerics::QuantizeHalf(h, q.half, q.lo, q.hi));
  }
}

void ToHalf(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
            uint8_t* dst) noexcept {
  uint16_t* half = q.post_op_args->half + (dst - static_cast<const uint8_t*>(q.post_op_args->dst));
  for (int64_t i = 0; i < count; ++i) {
    half[i] = FloatToHalf(
        numerics::DequantizeHalf(acc[i], q.scale[entry + i], q.bias_f[entry + i], q.half));
  }
}

void ToSums(const RequantArgs& q, int64_t, const int32_t* acc, int64_t count,
            uint8_t* dst) noexcept {
  std::copy_n(acc, count,
              q.post_op_args->sums + (dst - static_cast<const uint8_t*>(q.post_op_args->dst)));
}

void ToScaledSums(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
                  uint8_t* dst) noexcept {
  float* result = q.post_op_args->result + (dst - static_cast<const uint8_t*>(q.post_op_args->dst));
  const float* scale = q.scale + entry;
  const float* bias = q.bias_f + entry;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    result[i] = numerics::DynamicResult(acc[i], scale[i], bias[i]);
  }
}

}  // namespace

FinishFn FinishBySign() { return BySign; }
FinishFn FinishToSums() { return ToSums; }
FinishFn FinishToScaledSums() { return ToScaledSums; }
FinishFn FinishToHalf() { return ToHalf; }

FinishFn FinishFor(Rounding rounding, bool post_ops, Isa isa) {
  switch (rounding) {
    case Rounding::kHalfUp:
      return nullptr;
    case Rounding::kTwoStep:
      return ByWords<Rounding::kTwoStep>;
    case Rounding::kFloatEven:
      return FloatEven;
    case Rounding::kFloatZeroEven:
      return post_ops ? FinishPostOps(isa) : FloatZeroEven;
    case Rounding::kHalfFloat:
      return HalfFloat;
    case Rounding::kHalfAway:
      return ByWords<Rounding::kHalfAway>;
    case Rounding::kTwoStepUp:
      return ByWords<Rounding::kTwoStepUp>;
    case Rounding::kDoubleAway:
      return ByWords<Rounding::kDoubleAway>;
  }
  return nullptr;
}

}  // namespace rshift
