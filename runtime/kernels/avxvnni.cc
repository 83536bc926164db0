// Kernels for AVX-VNNI. Entries left null are computed by the next simpler unit.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
namespace rshift {

const KernelTable kAvxVnniKernels = {};

}  // namespace rshift
#endif
