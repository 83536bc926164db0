// Kernels for AVX512-VNNI: 6 pixels x 64 channels in 24 accumulators, u8 x s8 dot products of four
// (s8 activations are XORed with 0x80, which the bias makes good), exact 64-bit requantization.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/conv_driver.h"
#include "runtime/kernels/depthwise_driver.h"

namespace rshift {
namespace {

// acc += dot of four. The empty asm keeps the accumulator where it is: without it g++ 12 copies and
// spills a tile of 24, and the kernel runs at 40 % of the machine's peak instead of 94 %.
inline void DotAccumulate(__m512i& acc, __m512i a, __m512i b) {
  acc = _mm512_dpbusd_epi32(acc, a, b);
  asm("" : "+v"(acc));
}

inline __m512i Broadcast4(const uint8_t* x) {
  int32_t four;
  std::memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

// The scales of 16 channels, split into even and odd lanes of s64 once for many pixels (a store of
// bytes may alias the arrays as far as the compiler knows, so it would not keep them by itself).
struct Scales {
  __m512i multiplier_even, multiplier_odd;
  __m512i half_even, half_odd;  // 2^(rshift-1), or 0
  __m512i rshift_even, rshift_odd;
  __m512i rshift_high;  // rshift - 32 as s32, for RequantizeHigh
};

inline Scales LoadScales(const RequantArgs& q, int64_t entry) {
  const __m512i multiplier = _mm512_loadu_si512(q.multiplier + entry),
                rshift = _mm512_loadu_si512(q.rshift + entry);
  const __m512i one = _mm512_set1_epi64(1);
  Scales s;
  s.multiplier_even = multiplier;
  s.multiplier_odd = _mm512_srli_epi64(multiplier, 32);
  s.rshift_even = _mm512_and_si512(rshift, _mm512_set1_epi64(0xffffffff));
  s.rshift_odd = _mm512_srli_epi64(rshift, 32);
  s.half_even = _mm512_srli_epi64(_mm512_sllv_epi64(one, s.rshift_even), 1);
  s.half_odd = _mm512_srli_epi64(_mm512_sllv_epi64(one, s.rshift_odd), 1);
  s.rshift_high = _mm512_sub_epi32(rshift, _mm512_set1_epi32(32));
  return s;
}

// acc * multiplier + 2^(rshift-1), for the even and the odd channels.
inline __m512i ProductEven(__m512i acc, const Scales& s) {
  return _mm512_add_epi64(_mm512_mul_epi32(acc, s.multiplier_even), s.half_even);
}
inline __m512i ProductOdd(__m512i acc, const Scales& s) {
  return _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(acc, 32), s.multiplier_odd),
                          s.half_odd);
}

// 16 channels: clamp(scaled + zero_y, lo, hi) as s32. In 64 bits throughout, so that scales above 1
// saturate rightly.
inline __m512i RequantizeWide(__m512i acc, const Scales& s, const RequantArgs& q) {
  const __m512i lo = _mm512_set1_epi64(q.lo - q.zero_y), hi = _mm512_set1_epi64(q.hi - q.zero_y);
  __m512i even = _mm512_srav_epi64(ProductEven(acc, s), s.rshift_even);
  __m512i odd = _mm512_srav_epi64(ProductOdd(acc, s), s.rshift_odd);
  even = _mm512_min_epi64(_mm512_max_epi64(even, lo), hi);
  odd = _mm512_min_epi64(_mm512_max_epi64(odd, lo), hi);
  const __m512i y = _mm512_mask_mov_epi32(even, 0xaaaa, _mm512_slli_epi64(odd, 32));
  return _mm512_add_epi32(y, _mm512_set1_epi32(q.zero_y));
}

// The same when every rshift is >= 32: floor(floor(y / 2^32) / 2^(s-32)) = floor(y / 2^s), so only
// high halves matter.
inline __m512i RequantizeHigh(__m512i acc, const Scales& s, const RequantArgs& q) {
  const __m512i high = _mm512_mask_shuffle_epi32(ProductOdd(acc, s), 0x5555, ProductEven(acc, s),
                                                 static_cast<_MM_PERM_ENUM>(0xB1));
  const __m512i y =
      _mm512_add_epi32(_mm512_srav_epi32(high, s.rshift_high), _mm512_set1_epi32(q.zero_y));
  return _mm512_min_epi32(_mm512_max_epi32(y, _mm512_set1_epi32(q.lo)), _mm512_set1_epi32(q.hi));
}

// Stores channels [0, count) of 16.
inline void Store16(const RequantArgs& q, const Scales& s, __m512i acc, uint8_t* dst,
                    int64_t count) {
  const __m512i y = q.min_rshift >= 32 ? RequantizeHigh(acc, s, q) : RequantizeWide(acc, s, q);
  const __m128i bytes = _mm512_cvtepi32_epi8(y);
  if (count >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst),
                     bytes);  // narrowing stores under a mask are slow on many CPUs
  } else if (count > 0) {
    _mm_mask_storeu_epi8(dst, static_cast<__mmask16>((1u << count) - 1), bytes);
  }
}

// Complete accumulators to the finish function, pixel after pixel.
template <int R, int V>
inline void FinishTile(const RequantArgs& q, const TileArgs& t, const __m512i (&acc)[R][V]) {
  alignas(64) int32_t row[V * 16];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    if (r >= t.count) break;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) _mm512_store_si512(row + 16 * v, acc[r][v]);
    q.finish(q, t.entry, row, t.real, t.dst + r * t.dst_stride);
  }
}

// R pixels x V * 16 channels.
template <int R, int V>
void DotTile(const ConvArgs& args, const TileArgs& t) {
  constexpr int kRows = 6;
  __m512i acc[R][V];
  const int32_t* bias =
      (args.src_signed ? args.requant.bias_unsigned : args.requant.bias) + t.entry;
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) acc[r][v] = _mm512_loadu_si512(bias + 16 * v);
  }
  const __m512i flip = _mm512_set1_epi32(args.src_signed ? static_cast<int32_t>(0x80808080u) : 0);
  const int8_t* w = t.weights;
  for (int64_t tap = 0; tap < t.taps; ++tap) {
    const uint8_t* x[R];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) x[r] = t.rows[tap * kRows + r] + t.channel_offset;
    for (int64_t k = 0; k < args.ic4; k += 4, w += V * 64) {
      __m512i b[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) b[v] = _mm512_loadu_si512(w + 64 * v);
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        const __m512i a = _mm512_xor_si512(Broadcast4(x[r] + k), flip);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) DotAccumulate(acc[r][v], a, b[v]);
      }
    }
  }
  if (t.sums != nullptr) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const __m512i zero = _mm512_loadu_si512(args.requant.zero_w + t.entry + 16 * v);
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        if (r >= t.count) break;
        acc[r][v] =
            _mm512_sub_epi32(acc[r][v], _mm512_mullo_epi32(zero, _mm512_set1_epi32(t.sums[r])));
      }
    }
  }
  if (args.requant.finish != nullptr) return FinishTile<R, V>(args.requant, t, acc);
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const Scales scales = LoadScales(args.requant, t.entry + 16 * v);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      if (r >= t.count) break;
      Store16(args.requant, scales, acc[r][v], t.dst + r * t.dst_stride + 16 * v, t.real - 16 * v);
    }
  }
}

struct Unit {
  static constexpr int kRows = 6;
  template <int R>
  static void Tile(const ConvArgs& args, const TileArgs& tile) {
    switch (tile.width / 16) {
      case 1:
        return DotTile<R, 1>(args, tile);
      case 2:
        return DotTile<R, 2>(args, tile);
      case 3:
        return DotTile<R, 3>(args, tile);
      default:
        return DotTile<R, 4>(args, tile);
    }
  }

  // --- depthwise: 32 channels, two taps at a time ---
  static constexpr int kDwChannels = 32;
  struct Pair {
    __m512i lo, hi;  // channels {0-3, 8-11, 16-19, 24-27} and {4-7, 12-15, 20-23, 28-31}
  };
  static Pair Zero() { return {_mm512_setzero_si512(), _mm512_setzero_si512()}; }

  static __m512i Widen(const void* bytes, bool is_signed) {
    const __m256i x = _mm256_loadu_si256(static_cast<const __m256i*>(bytes));
    return is_signed ? _mm512_cvtepi8_epi16(x) : _mm512_cvtepu8_epi16(x);
  }
  static void InterleaveWeights(const int8_t* w0, const int8_t* w1, const int16_t* zero_w,
                                int16_t* out) {
    const __m512i zero = zero_w == nullptr ? _mm512_setzero_si512() : _mm512_loadu_si512(zero_w);
    const __m512i a = _mm512_sub_epi16(Widen(w0, true), zero);
    const __m512i b =
        w1 == nullptr ? _mm512_setzero_si512() : _mm512_sub_epi16(Widen(w1, true), zero);
    _mm512_storeu_si512(out, _mm512_unpacklo_epi16(a, b));
    _mm512_storeu_si512(out + 32, _mm512_unpackhi_epi16(a, b));
  }
  static void AddPair(Pair& acc, const uint8_t* x0, const uint8_t* x1, const int16_t* weights,
                      bool is_signed) {
    const __m512i a = Widen(x0, is_signed), b = Widen(x1, is_signed);
    acc.lo = _mm512_add_epi32(
        acc.lo, _mm512_madd_epi16(_mm512_unpacklo_epi16(a, b), _mm512_loadu_si512(weights)));
    acc.hi = _mm512_add_epi32(
        acc.hi, _mm512_madd_epi16(_mm512_unpackhi_epi16(a, b), _mm512_loadu_si512(weights + 32)));
  }
  struct Finish {
    int64_t entry;
    Scales first, second;  // unless there is a finish function
    __m512i bias_first, bias_second;
  };
  static Finish Prepare(const RequantArgs& q, int64_t entry) {
    Finish f;
    f.entry = entry;
    f.bias_first = _mm512_loadu_si512(q.bias + entry);
    f.bias_second = _mm512_loadu_si512(q.bias + entry + 16);
    if (q.finish == nullptr) {
      f.first = LoadScales(q, entry);
      f.second = LoadScales(q, entry + 16);
    }
    return f;
  }
  static void StoreChannels(const RequantArgs& q, const Finish& f, const Pair& acc, uint8_t* dst,
                            int64_t count) {
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i second =
        _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    const __m512i a = _mm512_permutex2var_epi32(acc.lo, first, acc.hi);
    const __m512i b = _mm512_permutex2var_epi32(acc.lo, second, acc.hi);
    const __m512i low = _mm512_add_epi32(a, f.bias_first);
    const __m512i high = _mm512_add_epi32(b, f.bias_second);
    if (q.finish != nullptr) {
      alignas(64) int32_t row[32];
      _mm512_store_si512(row, low);
      _mm512_store_si512(row + 16, high);
      return q.finish(q, f.entry, row, count, dst);
    }
    Store16(q, f.first, low, dst, count);
    Store16(q, f.second, high, dst + 16, count - 16);
  }
};

void MaxPool(const PoolWindow& w, int64_t count, bool is_signed, uint8_t* dst) noexcept {
  for (int64_t c = 0; c < count; c += 64) {
    const __mmask64 mask = count - c >= 64 ? ~__mmask64{0} : (__mmask64{1} << (count - c)) - 1;
    __m512i best = _mm512_maskz_loadu_epi8(mask, w.base + c);
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        const __m512i value = _mm512_maskz_loadu_epi8(mask, tap);
        best = is_signed ? _mm512_max_epi8(best, value) : _mm512_max_epu8(best, value);
      }
    }
    _mm512_mask_storeu_epi8(dst + c, mask, best);
  }
}

void SumPool(const PoolWindow& w, int64_t count, bool is_signed, int32_t* sum) noexcept {
  for (int64_t c = 0; c < count; c += 16) {
    __m512i total = _mm512_setzero_si512();
    for (int64_t y = 0; y < w.rows; ++y) {
      const uint8_t* tap = w.base + c + y * w.row_step;
      for (int64_t x = 0; x < w.columns; ++x, tap += w.column_step) {
        const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tap));
        total = _mm512_add_epi32(
            total, is_signed ? _mm512_cvtepi8_epi32(value) : _mm512_cvtepu8_epi32(value));
      }
    }
    _mm512_storeu_si512(sum + c, total);
  }
}

}  // namespace

const KernelTable kAvx512VnniKernels = {.conv = DriveConv<Unit>,
                                        .conv_scratch = ConvScratchBytes<Unit>,
                                        .conv_m_grain = Unit::kRows,
                                        .depthwise = DriveDepthwise<Unit>,
                                        .depthwise_scratch = DepthwiseScratchBytes<Unit>,
                                        .max_pool = MaxPool,
                                        .sum_pool = SumPool};

}  // namespace rshift
#endif
