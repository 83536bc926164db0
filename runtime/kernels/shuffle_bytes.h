// Rows of bytes put together from bytes that lie close to each other: slices with steps, repeated
// elements, small blocks that change places, channels in another order.
#ifndef RSHIFT_RUNTIME_KERNELS_SHUFFLE_BYTES_H_
#define RSHIFT_RUNTIME_KERNELS_SHUFFLE_BYTES_H_

#include <cstdint>

#include "runtime/runtime.h"

namespace rshift {

inline constexpr int64_t kShuffleBytes = 64, kShuffleWindows = 4;

// Sixty-four bytes of dst from up to four windows of sixty-four bytes of src.
struct alignas(64) ShuffleBlock {
  uint8_t from[kShuffleBytes] = {};       // 64 * window + byte in it
  uint64_t loaded[kShuffleWindows] = {};  // bytes of a window that exist: no other is read
  int64_t window[kShuffleWindows] = {};   // where it begins behind src
  uint64_t stored = 0;                    // no other is written
  int64_t dst = 0;                        // where the block begins behind dst
  int64_t windows = 0;                    // at least one
};

using ShuffleBytesFn = void (*)(const ShuffleBlock* blocks, int64_t count, const uint8_t* src,
                                uint8_t* dst) noexcept;

// Isa::kAvx512Vnni with VBMI; null elsewhere.
ShuffleBytesFn ShuffleBytesFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SHUFFLE_BYTES_H_
