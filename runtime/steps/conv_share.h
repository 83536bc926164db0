// What the steps of convolutions share: memory beside the tensors, and how threads divide the work.
#ifndef RSHIFT_RUNTIME_STEPS_CONV_SHARE_H_
#define RSHIFT_RUNTIME_STEPS_CONV_SHARE_H_

#include <cstring>

#include "base/aligned.h"
#include "runtime/steps/flattened_rows.h"

namespace rshift {

// One pixel of zero points with the slack kernels may read: src's, or `each` channel's own.
inline AlignedBuffer MakeZeroRow(const TensorRecord& src, const uint8_t* each = nullptr) {
  const auto channels = static_cast<size_t>(src.shape.back());
  AlignedBuffer row(channels + kBufferSlack);
  std::memset(row.data(), static_cast<uint8_t>(src.zero_point), row.size());
  if (each != nullptr) std::memcpy(row.data(), each, channels);
  return row;
}

// Elements from pixel to pixel of dst; numbers in f32 and f16 have no pitch (FinishToFloat).
inline int64_t OutputPitch(const StepContext& context) {
  const TensorRecord& dst = context.Record(Field::kDst);
  return SizeOf(dst.dtype) != 1 ? dst.shape.back() : RowPitch(context, Field::kDst);
}

// Each thread's own piece of one buffer.
class ThreadScratch {
 public:
  ThreadScratch(size_t bytes, int threads)
      : stride_((bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment),
        memory_(stride_ * static_cast<size_t>(threads)) {}
  size_t bytes() const { return memory_.size(); }
  void* For(const Team& team) { return memory_.data() + stride_ * static_cast<size_t>(team.index); }

 private:
  size_t stride_;
  AlignedBuffer memory_;
};

// Two ways to divide a grid, by the largest share of a thread under each: rows, or columns, or the
// preferred one when the other is less than a tenth better.
inline bool SplitRows(int64_t by_rows, int64_t by_columns, bool prefer_rows) {
  return prefer_rows ? by_rows <= by_columns + by_columns / 10
                     : by_rows + by_rows / 10 < by_columns;
}

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_CONV_SHARE_H_
