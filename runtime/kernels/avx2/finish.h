// From accumulators in memory to bytes, 16 channels at a time: shared by the AVX2 and AVX-VNNI
// units.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX2_FINISH_H_
#define RSHIFT_RUNTIME_KERNELS_AVX2_FINISH_H_

#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/avx2/requant.h"
#include "runtime/kernels/driver/conv.h"

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

// By requantizer S. The dispatch is outside: these loops keep its constants in registers.
template <typename S>
void FinishBy(const RequantArgs& q, const ColumnArgs& column) {
  const S first = S::Load(q, column.entry), second = S::Load(q, column.entry + 8);
  const SaturatingPack<S> pack = SaturatingPack<S>::Load(q);
  uint8_t* dst = column.dst;
  for (int64_t r = 0; r < column.pixels; ++r, dst += column.dst_stride) {
    const int32_t* acc = column.rows[r];
    const __m128i bytes = pack.Pack(first.Scale(LoadEight(acc)), second.Scale(LoadEight(acc + 8)));
    if (column.real >= kColumn)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), bytes);
    else
      std::memcpy(dst, &bytes, static_cast<size_t>(column.real));
  }
}

inline void FinishColumn(const RequantArgs& q, const ColumnArgs& column) {
  if (!q.post_ops) {
    return WithRequantizer<Avx2>(
        q, [&](auto tag) { FinishBy<typename decltype(tag)::Type>(q, column); });
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

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX2_FINISH_H_
