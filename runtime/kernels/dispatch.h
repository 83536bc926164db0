// Which kernels a session uses: one table per instruction set with its gaps filled from simpler
// ones.
#ifndef RSHIFT_RUNTIME_KERNELS_DISPATCH_H_
#define RSHIFT_RUNTIME_KERNELS_DISPATCH_H_

#include "runtime/kernels/kernels.h"
#include "runtime/runtime.h"

namespace rshift {

// Every function of the table is set, except that ...scratch may be null. The CPU is not asked.
const KernelTable& KernelsFor(Isa isa);

// Taps so far apart that the AVX-512 depthwise convolution, which brings every column under an
// output pixel into its order, would hold and move mostly columns that nobody reads.
inline bool HasDistantTaps(int64_t kernel_h, int64_t kernel_w, int64_t dilation_w) {
  const int64_t span = (kernel_w - 1) * dilation_w + 1;
  return span > 16 * kernel_w && span * ((kernel_h + 3) / 4) > 256;
}

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DISPATCH_H_
