#ifndef RSHIFT_BASE_ROUND_UP_H_
#define RSHIFT_BASE_ROUND_UP_H_

#include <cstdint>

namespace rshift {

// The least multiple of `multiple` (> 0) that is not below `value` (>= 0). The sum of both fits:
// sizes that a file says are rounded by CheckedRoundUp (base/checked.h).
inline constexpr int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace rshift

#endif  // RSHIFT_BASE_ROUND_UP_H_
