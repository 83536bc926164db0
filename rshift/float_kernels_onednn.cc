#include "rshift/float_kernels.h"
#include "runtime/onednn/float_library.h"

namespace rshift {

const bool kHasFloatKernels = true;

void RegisterFloatKernels() { RegisterFloatLibrary(); }

}  // namespace rshift
