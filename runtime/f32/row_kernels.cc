// The loops for any CPU, and the choice.
#include "runtime/f32/row_kernels.h"

#include "runtime/f32/make_row_kernels.h"
#include "runtime/runtime.h"

namespace rshift::f32 {

#if defined(__x86_64__)
extern const RowKernels kAvx2RowKernels;    // row_kernels_avx2.cc
extern const RowKernels kAvx512RowKernels;  // row_kernels_avx512.cc
#endif

namespace {
constexpr RowKernels kPlainRowKernels = MakeRowKernels();
}  // namespace

const RowKernels& RowKernelsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni) return kAvx512RowKernels;
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return kAvx2RowKernels;
#endif
  (void)isa;
  return kPlainRowKernels;
}

}  // namespace rshift::f32
