// Kernels for AVX2. Entries left null are computed by the next simpler unit.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
namespace rshift {

const KernelTable kAvx2Kernels = {};

}  // namespace rshift
#endif
