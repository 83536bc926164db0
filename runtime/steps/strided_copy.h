// Copies a strided view of the source: Transpose, Slice, Expand and Tile are all such views.
//
//   dst + i0 * dst_stride[0] + ... + in * dst_stride[n] = src + i0 * stride[0] + ... + in *
//   stride[n]
//
// Strides are in bytes; 0 repeats, a negative one walks backwards.
#ifndef RSHIFT_RUNTIME_STEPS_STRIDED_COPY_H_
#define RSHIFT_RUNTIME_STEPS_STRIDED_COPY_H_

#include <cstdint>
#include <vector>

#include "runtime/kernels/transpose_bytes.h"
#include "runtime/kernels/transpose_words.h"
#include "runtime/step.h"
#include "runtime/steps/strided_dims.h"
#include "runtime/steps/strided_shuffle.h"

namespace rshift {

struct StridedCopy {
  StridedShuffle shuffle;         // instead of all below, where it can
  std::vector<StridedDim> outer;  // loops around the inner two, then over their blocks
  // `columns` are closest in dst; `rows` is the dimension whose source elements are neighbours (a
  // transpose in blocks), or a single row.
  StridedDim rows{1, 0, 0}, columns{1, 0, 0};
  int64_t element = 1;  // bytes copied at a time
  // Of a block, whose lines of both sides stay in the first cache.
  int64_t row_block = 32, column_block = 32;
  int64_t count = 1;  // of blocks
  TransposeBytesFn transpose = nullptr;
  TransposeWordsFn transpose_words = nullptr;
};

// Drops dimensions of 1, merges neighbours that are one run, grows the element by a dense innermost
// dimension.
StridedCopy PlanStridedCopy(const std::vector<StridedDim>& dims, int64_t element, Isa isa);
void RunStridedCopy(const StridedCopy& copy, const std::byte* src, std::byte* dst,
                    const Team& team);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STRIDED_COPY_H_
