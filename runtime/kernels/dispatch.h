// Which kernels a session uses: one table per instruction set with its gaps filled from simpler
// ones.
#ifndef RSHIFT_RUNTIME_KERNELS_DISPATCH_H_
#define RSHIFT_RUNTIME_KERNELS_DISPATCH_H_

#include "runtime/kernels/kernels.h"
#include "runtime/runtime.h"

namespace rshift {

// Every function of the table is set, except that ...scratch may be null. The CPU is not asked.
const KernelTable& KernelsFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DISPATCH_H_
