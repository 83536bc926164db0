// A strided view whose elements are small and close to each other in the source, as rows of dst by
// byte shuffles.
#ifndef RSHIFT_RUNTIME_STEPS_STRIDED_SHUFFLE_H_
#define RSHIFT_RUNTIME_STEPS_STRIDED_SHUFFLE_H_

#include <cstdint>
#include <vector>

#include "runtime/kernels/shuffle_bytes.h"
#include "runtime/step.h"
#include "runtime/steps/strided_dims.h"

namespace rshift {

struct StridedShuffle {
  ShuffleBytesFn run = nullptr;      // null: the view is none for this
  std::vector<ShuffleBlock> blocks;  // of a row
  std::vector<StridedDim> outer;     // the rows; the last one counts parts of a dimension
  int64_t count = 1;
  // Where the last part of that dimension is shorter: how far behind the last whole one a row
  // begins that ends with the dimension. It overlaps that one and runs with it.
  StridedDim rest{0, 0, 0};
};

// `dims` are not empty, none is 0, and neighbours that are one run are merged.
StridedShuffle PlanStridedShuffle(const std::vector<StridedDim>& dims, int64_t element, Isa isa);
// `rows` rows, `pitch` bytes apart in src and dense in dst, each of the bytes `row` of src.
StridedShuffle PlanRowShuffle(const std::vector<int64_t>& row, int64_t rows, int64_t pitch,
                              Isa isa);
void RunStridedShuffle(const StridedShuffle& shuffle, const std::byte* src, std::byte* dst,
                       const Team& team);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STRIDED_SHUFFLE_H_
