// From accumulators in memory to bytes, 16 channels at a time.
#ifndef RSHIFT_RUNTIME_KERNELS_NEONDOT_FINISH_H_
#define RSHIFT_RUNTIME_KERNELS_NEONDOT_FINISH_H_

#include <arm_neon.h>

#include <cstring>

#include "runtime/kernels/neondot/requant.h"

namespace rshift {
namespace {

constexpr int64_t kColumn = 16;  // channels finished at a time

// Stores the first `count` of 16 bytes; more than 16 count as 16.
inline void StoreBytes(uint8_t* dst, uint8x16_t bytes, int64_t count) {
  if (count >= 16)
    vst1q_u8(dst, bytes);
  else
    std::memcpy(dst, &bytes, static_cast<size_t>(count));
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

template <typename S>
void FinishBy(const RequantArgs& q, const ColumnArgs& column) {
  const S s[4] = {S::Load(q, column.entry), S::Load(q, column.entry + 4),
                  S::Load(q, column.entry + 8), S::Load(q, column.entry + 12)};
  const SaturatingPack<S> pack = SaturatingPack<S>::Load(q);
  uint8_t* dst = column.dst;
  for (int64_t r = 0; r < column.pixels; ++r, dst += column.dst_stride) {
    const int32_t* acc = column.rows[r];
    StoreBytes(dst,
               pack.Pack(s[0].Scale(vld1q_s32(acc)), s[1].Scale(vld1q_s32(acc + 4)),
                         s[2].Scale(vld1q_s32(acc + 8)), s[3].Scale(vld1q_s32(acc + 12))),
               column.real);
  }
}

void FinishColumn(const RequantArgs& q, const ColumnArgs& column) {
  if (!q.post_ops) {
    return WithRequantizer<Neon>(
        q, [&](auto tag) { FinishBy<typename decltype(tag)::Type>(q, column); });
  }
  for (int64_t r = 0; r < column.pixels; ++r) {
    q.finish(q, column.entry, column.rows[r], column.real < kColumn ? column.real : kColumn,
             column.dst + r * column.dst_stride);
  }
}

// RequantizeFn: all rows by the constants of entry 0.
void RequantizeAll(const RequantArgs& q, const int32_t* acc, int64_t count, uint8_t* dst) noexcept {
  const auto* rows = reinterpret_cast<const int32_t(*)[kColumn]>(acc);
  const int64_t whole = count / kColumn, rest = count % kColumn;
  FinishColumn(q, {.rows = rows, .pixels = whole, .dst = dst, .dst_stride = kColumn});
  if (rest == 0) return;
  FinishColumn(q, {.rows = rows + whole, .pixels = 1, .dst = dst + whole * kColumn, .real = rest});
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_NEONDOT_FINISH_H_
