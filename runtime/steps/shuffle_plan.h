// From "byte i of dst is byte from[i] of src" to the blocks of a byte shuffle.
#ifndef RSHIFT_RUNTIME_STEPS_SHUFFLE_PLAN_H_
#define RSHIFT_RUNTIME_STEPS_SHUFFLE_PLAN_H_

#include <cstdint>
#include <vector>

#include "runtime/kernels/shuffle_bytes.h"

namespace rshift {

// Of a row of from.size() > 0 bytes, of which each is written, and nothing else. Empty where
// sixty-four of them lie too far apart for the windows of a block.
std::vector<ShuffleBlock> PlanShuffle(const std::vector<int64_t>& from);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_SHUFFLE_PLAN_H_
