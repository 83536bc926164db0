// Kernels for AVX512-VNNI. Entries left null are computed by the next simpler unit.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
namespace rshift {

const KernelTable kAvx512VnniKernels = {};

}  // namespace rshift
#endif
