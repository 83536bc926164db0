// What the AVX2 and the AVX-VNNI unit share: from accumulators to bytes, and depthwise convolution.
// Included by those two units only (see conv_driver.h).
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_COMMON_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_COMMON_H_

#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/conv_driver.h"
#include "runtime/kernels/depthwise_driver.h"
#include "runtime/kernels/requant_avx2.h"

namespace rshift {
namespace {

constexpr int64_t kColumn = 16;  // channels finished at a time

inline void StoreEight(int32_t* p, __m256i v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}

// Complete accumulators of `pixels` x 16 channels and where their bytes go.
struct ColumnArgs {
  int64_t entry = 0;  // of the first channel
  const int32_t (*rows)[kColumn] = nullptr;
  int64_t pixels = 1;
  uint8_t* dst = nullptr;  // of the first pixel and channel
  int64_t dst_stride = 0;
  int64_t real = kColumn;  // channels stored; more than 16 count as 16
};

// By form S. The dispatch is outside: these loops keep a form's constants in registers.
template <typename S>
void FinishByForm(const RequantArgs& q, const ColumnArgs& column) {
  const S first = S::Load(q, column.entry), second = S::Load(q, column.entry + 8);
  const Narrow narrow = Narrow::Load<S>(q);
  uint8_t* dst = column.dst;
  for (int64_t r = 0; r < column.pixels; ++r, dst += column.dst_stride) {
    const int32_t* acc = column.rows[r];
    const __m128i bytes =
        narrow.Pack(first.Scale(LoadEight(acc)), second.Scale(LoadEight(acc + 8)));
    if (column.real >= kColumn)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), bytes);
    else
      std::memcpy(dst, &bytes, static_cast<size_t>(column.real));
  }
}

inline void FinishColumn(const RequantArgs& q, const ColumnArgs& column) {
  if (!q.post_ops) {
    return WithRequant(q,
                       [&](auto form) { FinishByForm<typename decltype(form)::Type>(q, column); });
  }
  for (int64_t r = 0; r < column.pixels; ++r) {
    q.finish(q, column.entry, column.rows[r], column.real < kColumn ? column.real : kColumn,
             column.dst + r * column.dst_stride);
  }
}

// RequantizeFn.
inline void RequantizeAll(const RequantArgs& q, const int32_t* acc, int64_t count,
                          uint8_t* dst) noexcept {
  const auto* rows = reinterpret_cast<const int32_t(*)[kColumn]>(acc);
  const int64_t whole = count / kColumn;
  FinishColumn(q, {.rows = rows, .pixels = whole, .dst = dst, .dst_stride = kColumn});
  if (count % kColumn == 0) return;
  FinishColumn(
      q,
      {.rows = rows + whole, .pixels = 1, .dst = dst + whole * kColumn, .real = count % kColumn});
}

// The tile's accumulators of channels first .. first + 15 -> bytes; zero_w * sum x is taken off.
template <int R>
void FinishTile(const RequantArgs& q, const TileArgs& t, int64_t first,
                int32_t (&rows)[R][kColumn]) {
  const int64_t entry = t.entry + first;
  for (int r = 0; t.sums != nullptr && r < R; ++r) {
    const __m256i sum = _mm256_set1_epi32(t.sums[r]);
    for (int64_t at = 0; at < kColumn; at += 8) {
      const __m256i less = _mm256_mullo_epi32(LoadEight(q.zero_w + entry + at), sum);
      StoreEight(rows[r] + at, _mm256_sub_epi32(LoadEight(rows[r] + at), less));
    }
  }
  FinishColumn(q, {.entry = entry,
                   .rows = rows,
                   .pixels = R,
                   .dst = t.dst + first,
                   .dst_stride = t.dst_stride,
                   .real = t.real - first});
}

// Depthwise convolution, 16 channels, two taps at a time.
struct DepthwiseUnit {
  static constexpr int kDwChannels = kColumn;
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
  static void StoreSums(const Pair& acc, const int32_t* bias, int32_t* row) {
    const __m256i first = _mm256_permute2x128_si256(acc.lo, acc.hi, 0x20);
    const __m256i second = _mm256_permute2x128_si256(acc.lo, acc.hi, 0x31);
    StoreEight(row, _mm256_add_epi32(first, LoadEight(bias)));
    StoreEight(row + 8, _mm256_add_epi32(second, LoadEight(bias + 8)));
  }
  static void Finish(const RequantArgs& q, int64_t entry, const int32_t (*rows)[kDwChannels],
                     int64_t pixels, uint8_t* dst, int64_t dst_stride, int64_t count) {
    FinishColumn(q, {entry, rows, pixels, dst, dst_stride, count});
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_COMMON_H_
