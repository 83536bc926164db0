// What the AVX2 and the AVX-VNNI unit share: the exact requantization of eight channels and
// depthwise convolution. Included by those two units only (see conv_driver.h).
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_COMMON_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_COMMON_H_

#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/conv_driver.h"
#include "runtime/kernels/depthwise_driver.h"

namespace rshift {
namespace {

// (acc * multiplier + 2^(rshift-1)) >> rshift for 4 lanes of s64 whose low halves hold the
// operands. AVX2 has no arithmetic 64-bit shift: |acc * multiplier| < 2^62, so 2^62 is added before
// a logical shift and its image taken off after.
inline __m256i ScaleEven(__m256i acc, __m256i multiplier, __m256i rshift) {
  const __m256i lift = _mm256_set1_epi64x(int64_t{1} << 62);
  const __m256i half = _mm256_srli_epi64(_mm256_sllv_epi64(_mm256_set1_epi64x(1), rshift), 1);
  const __m256i y =
      _mm256_add_epi64(_mm256_add_epi64(_mm256_mul_epi32(acc, multiplier), half), lift);
  return _mm256_sub_epi64(_mm256_srlv_epi64(y, rshift), _mm256_srlv_epi64(lift, rshift));
}

inline __m256i Clamp64(__m256i x, __m256i lo, __m256i hi) {
  x = _mm256_blendv_epi8(x, lo, _mm256_cmpgt_epi64(lo, x));
  return _mm256_blendv_epi8(x, hi, _mm256_cmpgt_epi64(x, hi));
}

// 8 channels: clamp(scaled + zero_y, lo, hi) as s32; clamped in 64 bits, so that scales above 1
// saturate rightly.
inline __m256i Requantize(__m256i acc, __m256i multiplier, __m256i rshift, const RequantArgs& q) {
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  const __m256i lo = _mm256_set1_epi64x(q.lo - q.zero_y), hi = _mm256_set1_epi64x(q.hi - q.zero_y);
  const __m256i even = ScaleEven(acc, multiplier, _mm256_and_si256(rshift, low));
  const __m256i odd = ScaleEven(_mm256_srli_epi64(acc, 32), _mm256_srli_epi64(multiplier, 32),
                                _mm256_srli_epi64(rshift, 32));
  const __m256i y =
      _mm256_blend_epi32(Clamp64(even, lo, hi), _mm256_slli_epi64(Clamp64(odd, lo, hi), 32), 0xaa);
  return _mm256_add_epi32(y, _mm256_set1_epi32(q.zero_y));
}

// Channels [0, count) of 16, two accumulators of eight, to the finish function.
inline void Finish16(const RequantArgs& q, int64_t entry, __m256i first, __m256i second,
                     uint8_t* dst, int64_t count) {
  alignas(32) int32_t acc[16];
  _mm256_store_si256(reinterpret_cast<__m256i*>(acc), first);
  _mm256_store_si256(reinterpret_cast<__m256i*>(acc + 8), second);
  q.finish(q, entry, acc, count < 16 ? count : 16, dst);
}

// Stores channels [0, count) of 8.
inline void Store8(const RequantArgs& q, int64_t entry, __m256i acc, uint8_t* dst, int64_t count) {
  if (count <= 0) return;
  const auto load = [entry](const int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + entry));
  };
  const __m256i y = Requantize(acc, load(q.multiplier), load(q.rshift), q);
  // The low byte of each of 8 lanes, in order.
  const __m256i pick =
      _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1,
                       -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i bytes = _mm256_shuffle_epi8(y, pick);
  const uint64_t low4 = static_cast<uint32_t>(_mm_cvtsi128_si32(_mm256_castsi256_si128(bytes)));
  const uint64_t high4 =
      static_cast<uint32_t>(_mm_cvtsi128_si32(_mm256_extracti128_si256(bytes, 1)));
  const uint64_t all = low4 | high4 << 32;
  if (count >= 8)
    std::memcpy(dst, &all, 8);
  else
    std::memcpy(dst, &all, static_cast<size_t>(count));
}

// Complete accumulators of 16 channels, less zero_w * sum: channels [0, count) as bytes.
inline void Store16(const RequantArgs& q, int64_t entry, __m256i first, __m256i second,
                    const int32_t* sum, uint8_t* dst, int64_t count) {
  if (sum != nullptr) {
    const auto less = [&](__m256i acc, int64_t at) {
      const __m256i zero =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q.zero_w + entry + at));
      return _mm256_sub_epi32(acc, _mm256_mullo_epi32(zero, _mm256_set1_epi32(*sum)));
    };
    first = less(first, 0);
    second = less(second, 8);
  }
  if (q.finish != nullptr) return Finish16(q, entry, first, second, dst, count);
  Store8(q, entry, first, dst, count);
  Store8(q, entry + 8, second, dst + 8, count - 8);
}

// Depthwise convolution, 16 channels, two taps at a time.
struct DepthwiseUnit {
  static constexpr int kDwChannels = 16;
  struct Pair {
    __m256i lo, hi;  // channels {0-3, 8-11} and {4-7, 12-15}
  };
  static Pair Zero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }

  static __m256i Widen(const void* bytes, bool is_signed) {
    const __m128i x = _mm_loadu_si128(static_cast<const __m128i*>(bytes));
    return is_signed ? _mm256_cvtepi8_epi16(x) : _mm256_cvtepu8_epi16(x);
  }
  static __m256i Load(const int16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void InterleaveWeights(const int8_t* w0, const int8_t* w1, const int16_t* zero_w,
                                int16_t* out) {
    const __m256i zero = zero_w == nullptr ? _mm256_setzero_si256() : Load(zero_w);
    const __m256i a = _mm256_sub_epi16(Widen(w0, true), zero);
    const __m256i b =
        w1 == nullptr ? _mm256_setzero_si256() : _mm256_sub_epi16(Widen(w1, true), zero);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_unpacklo_epi16(a, b));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16), _mm256_unpackhi_epi16(a, b));
  }
  static void AddPair(Pair& acc, const uint8_t* x0, const uint8_t* x1, const int16_t* weights,
                      bool is_signed) {
    const __m256i a = Widen(x0, is_signed), b = Widen(x1, is_signed);
    acc.lo =
        _mm256_add_epi32(acc.lo, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), Load(weights)));
    acc.hi = _mm256_add_epi32(acc.hi,
                              _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), Load(weights + 16)));
  }
  struct Finish {
    int64_t entry;  // sixteen registers hold no more
  };
  static Finish Prepare(const RequantArgs&, int64_t entry) { return {entry}; }
  static void StoreChannels(const RequantArgs& q, const Finish& f, const Pair& acc, uint8_t* dst,
                            int64_t count) {
    const int64_t entry = f.entry;
    const auto bias = [&q, entry](int64_t at) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q.bias + entry + at));
    };
    const __m256i first = _mm256_permute2x128_si256(acc.lo, acc.hi, 0x20);
    const __m256i second = _mm256_permute2x128_si256(acc.lo, acc.hi, 0x31);
    Store16(q, entry, _mm256_add_epi32(first, bias(0)), _mm256_add_epi32(second, bias(8)), nullptr,
            dst, count);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_COMMON_H_
