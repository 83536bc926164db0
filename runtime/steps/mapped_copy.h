// Copies by one index map per dimension: dst[i, j, ...] = src[map0[i], map1[j], ...], or the fill
// value where a map says so. Pad (all modes) and nearest Resize.
#ifndef RSHIFT_RUNTIME_STEPS_MAPPED_COPY_H_
#define RSHIFT_RUNTIME_STEPS_MAPPED_COPY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/step.h"

namespace rshift {

inline constexpr int64_t kFillIndex = -1;

// One map per dimension of dst, with dst's size entries, each kFillIndex or an index into src.
// `fill`: the bits of one element, in the low bytes.
std::unique_ptr<Step> MakeMappedStep(const StepContext& context,
                                     const std::vector<std::vector<int64_t>>& maps, int64_t fill);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_MAPPED_COPY_H_
