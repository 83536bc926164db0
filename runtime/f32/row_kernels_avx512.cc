// Compiled with AVX-512, entered only where the CPU has it.
#if defined(__AVX512F__)
#include "runtime/f32/make_row_kernels.h"

namespace rshift::f32 {

extern const RowKernels kAvx512RowKernels;
constexpr RowKernels kAvx512RowKernels = MakeRowKernels();

}  // namespace rshift::f32
#endif
