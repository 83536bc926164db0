// Compiled with AVX2, entered only where the CPU has it.
#if defined(__AVX2__)
#include "runtime/f32/make_row_kernels.h"

namespace rshift::f32 {

extern const RowKernels kAvx2RowKernels;
constexpr RowKernels kAvx2RowKernels = MakeRowKernels();

}  // namespace rshift::f32
#endif
