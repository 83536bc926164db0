#include "runtime/kernels/int16_finish.h"

#include "runtime/kernels/generic/int16_high_words.h"
#include "runtime/kernels/generic/int16_numbers.h"
#include "runtime/kernels/generic/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Written for the vectoriser, as elementwise.cc; the commonest by hand.
namespace rshift {
namespace {

// The accumulator of channel i, bias included -> the number of y's type.
struct HalfUp {
  const S16Channels c;
  const Held held;
  [[gnu::always_inline]] int32_t operator()(int64_t acc, int64_t i) const {
    return held(Rounded(acc * c.multiplier[i], c.rshift[i]));
  }
};

// Clamped before it is rounded, which is the same: the bounds are integers. The largest number
// below 1/2, added away from zero and cut off, rounds ties away from zero.
struct DoubleAway {
  const S16Channels c;
  const Held held;
  [[gnu::always_inline]] int32_t operator()(int64_t acc, int64_t i) const {
    constexpr double kBelowHalf = 0.49999999999999994;
    const auto lo = static_cast<double>(held.lo), hi = static_cast<double>(held.hi);
    double v = static_cast<double>(acc) * c.scale[i];
    v = v < lo ? lo : v > hi ? hi : v;
    return static_cast<int32_t>(v + (v < 0 ? -kBelowHalf : kBelowHalf)) + held.zero;
  }
};

// The accumulator fits 32 bits. numerics::MultiplyTwoStep; kUp: MultiplyTwoStepUp.
template <bool kUp>
struct TwoStep {
  const S16Channels c;
  const Held held;
  [[gnu::always_inline]] int32_t operator()(int64_t acc, int64_t i) const {
    const auto word = static_cast<int32_t>(c.rshift[i]);
    const int32_t rshift = word & 63;
    const int32_t away = !kUp || word > 63 ? 1 : 0;
    const int32_t left = rshift < 31 ? 31 - rshift : 0, right = rshift > 31 ? rshift - 31 : 0;
    const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(acc) << left);
    const int64_t product = int64_t{shifted} * c.multiplier[i];
    const auto high = static_cast<int32_t>(FloorShift(product + (int64_t{1} << 30), 31));
    const auto mask = static_cast<int32_t>((uint32_t{1} << right) - 1);
    const int32_t threshold = (mask >> 1) + (high < 0 ? away : 0);
    return held((high >> right) + ((high & mask) > threshold ? 1 : 0));
  }
};

template <typename Scale>
[[gnu::always_inline]] inline void RequantizeLoop(const int64_t* acc, int64_t n, const Scale& of,
                                                  int32_t* y) {
  const Scale scale = of;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = scale(acc[i] + scale.c.bias[i], i);
}

// Sums and biases of 32 bits, as their total is.
template <typename T, typename Scale>
[[gnu::always_inline]] inline void FinishLoop(const S16Tile& tile, const Scale& of) {
  const Scale scale = of;
  for (int64_t p = 0; p < tile.pixels; ++p) {
    const int32_t* sums = tile.sums + p * tile.step;
    T* y = reinterpret_cast<T*>(tile.dst + p * tile.pitch);
#pragma omp simd
    for (int64_t i = 0; i < tile.count; ++i) {
      const int32_t acc = sums[i] + static_cast<int32_t>(scale.c.bias[i]);
      y[i] = static_cast<T>(scale(acc, i));
    }
  }
}

template <typename Scale>
[[gnu::always_inline]] inline void FinishTileLoop(const S16Tile& tile, const Scale& scale) {
  switch (tile.type) {
    case NarrowType::kS8:
      return FinishLoop<int8_t>(tile, scale);
    case NarrowType::kU8:
      return FinishLoop<uint8_t>(tile, scale);
    case NarrowType::kS16:
      return FinishLoop<int16_t>(tile, scale);
  }
}

// f(the scale of the channels' rounding).
template <typename F>
[[gnu::always_inline]] inline void ForRounding(const S16Channels& channels, const S16Bounds& bounds,
                                               const F& f) {
  const Held held(bounds);
  if (channels.rounding == Rounding::kDoubleAway) return f(DoubleAway{channels, held});
  if (channels.rounding == Rounding::kTwoStep) return f(TwoStep<false>{channels, held});
  if (channels.rounding == Rounding::kTwoStepUp) return f(TwoStep<true>{channels, held});
  f(HalfUp{channels, held});
}

#define RSHIFT_TARGET(name, ...)                                                       \
  struct name {                                                                        \
    struct Requantizer {                                                               \
      const int64_t* acc;                                                              \
      int64_t n;                                                                       \
      int32_t* y;                                                                      \
      template <typename Scale>                                                        \
      __VA_ARGS__ void operator()(const Scale& scale) const noexcept {                 \
        RequantizeLoop(acc, n, scale, y);                                              \
      }                                                                                \
    };                                                                                 \
    struct Finisher {                                                                  \
      const S16Tile& tile;                                                             \
      template <typename Scale>                                                        \
      __VA_ARGS__ void operator()(const Scale& scale) const noexcept {                 \
        FinishTileLoop(tile, scale);                                                   \
      }                                                                                \
    };                                                                                 \
    static void Requantize(const int64_t* acc, int64_t n, const S16Channels& channels, \
                           const S16Bounds& bounds, int32_t* y) noexcept {             \
      ForRounding(channels, bounds, Requantizer{acc, n, y});                           \
    }                                                                                  \
    static void FinishTile(const S16Tile& tile, const S16Channels& channels,           \
                           const S16Bounds& bounds) noexcept {                         \
      ForRounding(channels, bounds, Finisher{tile});                                   \
    }                                                                                  \
  }

RSHIFT_FOR_TARGETS(RSHIFT_TARGET);

#if defined(__x86_64__)

RSHIFT_TARGET_AVX512 inline __m512i BiasAvx512(const int64_t* bias) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_loadu_si512(bias))),
                            _mm512_cvtepi64_epi32(_mm512_loadu_si512(bias + 8)), 1);
}

// DoubleAway, of 16 channels: eight and eight. Held within 2^16 before it is rounded.
struct DoubleAwayAvx512 {
  __m512d first, second;
  RSHIFT_TARGET_AVX512 DoubleAwayAvx512(const S16Channels& c, int64_t i)
      : first(_mm512_loadu_pd(c.scale + i)), second(_mm512_loadu_pd(c.scale + i + 8)) {}
  RSHIFT_TARGET_AVX512 static __m256i Eight(__m256i acc, __m512d scale) {
    const __m512i below_half = _mm512_castpd_si512(_mm512_set1_pd(0.49999999999999994));
    const __m512i sign = _mm512_set1_epi64(INT64_MIN);
    const __m512d product = _mm512_mul_pd(_mm512_cvtepi32_pd(acc), scale);
    const __m512d v =
        _mm512_min_pd(_mm512_max_pd(product, _mm512_set1_pd(-65536)), _mm512_set1_pd(65536));
    // (v & sign) | below_half
    const __m512i half = _mm512_ternarylogic_epi64(_mm512_castpd_si512(v), sign, below_half, 0xea);
    return _mm512_cvttpd_epi32(_mm512_add_pd(v, _mm512_castsi512_pd(half)));
  }
  RSHIFT_TARGET_AVX512 __m512i operator()(__m512i acc) const {
    return _mm512_inserti64x4(_mm512_castsi256_si512(Eight(_mm512_castsi512_si256(acc), first)),
                              Eight(_mm512_extracti64x4_epi64(acc, 1), second), 1);
  }
};

// g++ 12 reads the channels' words again for every pixel.
RSHIFT_TARGET_AVX512 void FinishDoubleAvx512(const S16Tile& t, const S16Channels& c,
                                             const S16Bounds& bounds) {
  const __m512i zero = _mm512_set1_epi32(bounds.zero);
  const __m512i lo = _mm512_set1_epi32(bounds.lo - bounds.zero);
  const __m512i hi = _mm512_set1_epi32(bounds.hi - bounds.zero);
  const int64_t size = t.type == NarrowType::kS16 ? 2 : 1;
  for (int64_t i = 0; i < t.count; i += 16) {
    const DoubleAwayAvx512 scale(c, i);
    const __m512i bias = BiasAvx512(c.bias + i);
    const int64_t left = t.count - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
    for (int64_t p = 0; p < t.pixels; ++p) {
      const __m512i acc = _mm512_add_epi32(_mm512_loadu_si512(t.sums + p * t.step + i), bias);
      const __m512i held = _mm512_min_epi32(_mm512_max_epi32(scale(acc), lo), hi);
      const __m512i v = _mm512_add_epi32(held, zero);
      uint8_t* y = t.dst + p * t.pitch + i * size;
      if (size == 1) {
        _mm_mask_storeu_epi8(y, mask, _mm512_cvtepi32_epi8(v));
      } else if (left >= 16) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_cvtepi32_epi16(v));
      } else {
        _mm256_mask_storeu_epi16(y, mask, _mm512_cvtepi32_epi16(v));
      }
    }
  }
}

// kHalfUp of 64-bit accumulators, which g++ 12 does not vectorise.
RSHIFT_TARGET_AVX512 void HalfUpAvx512(const int64_t* acc, int64_t n, const S16Channels& c,
                                       const S16Bounds& bounds, int32_t* y) {
  const Held held(bounds);
  const __m512i lo = _mm512_set1_epi64(held.lo), hi = _mm512_set1_epi64(held.hi);
  const __m512i one = _mm512_set1_epi64(1);
  const __m256i zero = _mm256_set1_epi32(held.zero);
  for (int64_t i = 0; i < n; i += 8) {
    const auto mask = static_cast<__mmask8>(n - i >= 8 ? 0xff : (1 << (n - i)) - 1);
    const __m512i sum =
        _mm512_add_epi64(_mm512_maskz_loadu_epi64(mask, acc + i), _mm512_loadu_si512(c.bias + i));
    const __m512i product = _mm512_mullo_epi64(sum, _mm512_loadu_si512(c.multiplier + i));
    const __m512i rshift = _mm512_loadu_si512(c.rshift + i);
    const __m512i half = _mm512_srli_epi64(_mm512_sllv_epi64(one, rshift), 1);
    const __m512i number = _mm512_srav_epi64(_mm512_add_epi64(product, half), rshift);
    const __m512i v = _mm512_min_epi64(_mm512_max_epi64(number, lo), hi);
    _mm256_mask_storeu_epi32(y + i, mask, _mm256_add_epi32(_mm512_cvtepi64_epi32(v), zero));
  }
}

void RequantizeAvx512(const int64_t* acc, int64_t n, const S16Channels& channels,
                      const S16Bounds& bounds, int32_t* y) noexcept {
  if (channels.rounding == Rounding::kHalfUp) return HalfUpAvx512(acc, n, channels, bounds, y);
  Avx512::Requantize(acc, n, channels, bounds, y);
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i LoadFour(const int64_t* x) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
}

// The same of four at a time. Multipliers are below 2^32, so that two products of 32 by 32 bits are
// the lower 64 of theirs; arithmetic shifts are FloorShift's.
[[gnu::target("avx2")]] int64_t HalfUpAvx2(const int64_t* acc, int64_t n, const S16Channels& c,
                                           const S16Bounds& bounds, int32_t* y) {
  const Held held(bounds);
  const __m256i lo = _mm256_set1_epi64x(held.lo), hi = _mm256_set1_epi64x(held.hi);
  const __m256i one = _mm256_set1_epi64x(1), raise = _mm256_set1_epi64x(kRaise);
  const __m128i zero = _mm_set1_epi32(held.zero);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const __m256i sum = _mm256_add_epi64(LoadFour(acc + i), LoadFour(c.bias + i));
    const __m256i multiplier = LoadFour(c.multiplier + i), rshift = LoadFour(c.rshift + i);
    const __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(sum, 32), multiplier);
    const __m256i product =
        _mm256_add_epi64(_mm256_mul_epu32(sum, multiplier), _mm256_slli_epi64(upper, 32));
    const __m256i half = _mm256_srli_epi64(_mm256_sllv_epi64(one, rshift), 1);
    const __m256i raised = _mm256_add_epi64(_mm256_add_epi64(product, half), raise);
    __m256i v =
        _mm256_sub_epi64(_mm256_srlv_epi64(raised, rshift), _mm256_srlv_epi64(raise, rshift));
    v = _mm256_blendv_epi8(v, lo, _mm256_cmpgt_epi64(lo, v));
    v = _mm256_blendv_epi8(v, hi, _mm256_cmpgt_epi64(v, hi));
    const __m256i low_words =
        _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm_add_epi32(_mm256_castsi256_si128(low_words), zero));
  }
  return i;
}

void RequantizeAvx2(const int64_t* acc, int64_t n, const S16Channels& channels,
                    const S16Bounds& bounds, int32_t* y) noexcept {
  S16Channels rest = channels;
  int64_t done = 0;
  if (channels.rounding == Rounding::kHalfUp) {
    done = HalfUpAvx2(acc, n, channels, bounds, y);
    rest.bias += done, rest.multiplier += done, rest.rshift += done;
  }
  Avx2::Requantize(acc + done, n - done, rest, bounds, y + done);
}

void FinishTileAvx512(const S16Tile& tile, const S16Channels& channels,
                      const S16Bounds& bounds) noexcept {
  if (channels.rounding == Rounding::kDoubleAway) return FinishDoubleAvx512(tile, channels, bounds);
  if (channels.high.multiplier != nullptr)
    return FinishHighWordsAvx512(tile, channels.high, bounds);
  Avx512::FinishTile(tile, channels, bounds);
}

void FinishTileAvx2(const S16Tile& tile, const S16Channels& channels,
                    const S16Bounds& bounds) noexcept {
  if (channels.high.multiplier != nullptr) return FinishHighWordsAvx2(tile, channels.high, bounds);
  Avx2::FinishTile(tile, channels, bounds);
}
constexpr Int16FinishTable kAvx2Table = {RequantizeAvx2, FinishTileAvx2};
constexpr Int16FinishTable kAvx512Table = {RequantizeAvx512, FinishTileAvx512};
#endif

template <typename T>
constexpr Int16FinishTable kTable = {T::Requantize, T::FinishTile};

// Where the numbers of the bytes at `dst` go.
int16_t* NumbersOf(const RequantArgs& q, const uint8_t* dst) {
  return q.post_op_args->numbers + (dst - q.post_op_args->dst);
}

void ToInt16(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
             uint8_t* dst) noexcept {
  const Held held({q.zero_y, q.lo, q.hi});
  int16_t* y = NumbersOf(q, dst);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t product = int64_t{acc[i]} * q.multiplier[entry + i];
    y[i] = static_cast<int16_t>(held(Rounded(product, q.rshift[entry + i])));
  }
}

#if defined(__x86_64__)
// Products of 32 by 32 bits of even channels and of odd ones, 16 at a time.
RSHIFT_TARGET_AVX512 void ToInt16Avx512(const RequantArgs& q, int64_t entry, const int32_t* acc,
                                        int64_t count, uint8_t* dst) noexcept {
  const __m512i one = _mm512_set1_epi64(1), low_word = _mm512_set1_epi64(0xffffffff);
  const __m512i lo = _mm512_set1_epi64(q.lo - q.zero_y), hi = _mm512_set1_epi64(q.hi - q.zero_y);
  const __m512i zero = _mm512_set1_epi32(q.zero_y);
  const auto scaled = [&](__m512i value, __m512i multiplier, __m512i shift)
      __attribute__((target("avx512f"), always_inline)) {
    const __m512i half = _mm512_srli_epi64(_mm512_sllv_epi64(one, shift), 1);
    const __m512i product = _mm512_add_epi64(_mm512_mul_epi32(value, multiplier), half);
    return _mm512_min_epi64(_mm512_max_epi64(_mm512_srav_epi64(product, shift), lo), hi);
  };
  int16_t* y = NumbersOf(q, dst);
  for (int64_t i = 0; i < count; i += 16) {
    const int64_t left = count - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
    const __m512i value = _mm512_maskz_loadu_epi32(mask, acc + i);
    const __m512i multiplier = _mm512_maskz_loadu_epi32(mask, q.multiplier + entry + i);
    const __m512i shift = _mm512_maskz_loadu_epi32(mask, q.rshift + entry + i);
    const __m512i even = scaled(value, multiplier, _mm512_and_si512(shift, low_word));
    const __m512i odd = scaled(_mm512_srli_epi64(value, 32), _mm512_srli_epi64(multiplier, 32),
                               _mm512_srli_epi64(shift, 32));
    const __m512i all = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
    _mm256_mask_storeu_epi16(y + i, mask, _mm512_cvtepi32_epi16(_mm512_add_epi32(all, zero)));
  }
}
#endif

}  // namespace

FinishFn FinishToInt16([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni) return ToInt16Avx512;
#endif
  return ToInt16;
}

const Int16FinishTable& Int16FinishFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return kAvx2Table;
  if (isa == Isa::kAvx512Vnni) return kAvx512Table;
#endif
  (void)isa;
  return kTable<Scalar>;
}

}  // namespace rshift
