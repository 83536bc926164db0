// F32 convolutions and matrix products of the C interface: there in library rshift_float
// (float_kernels_onednn.cc), missing in rshift_runtime (float_kernels_none.cc).
#ifndef RSHIFT_RSHIFT_FLOAT_KERNELS_H_
#define RSHIFT_RSHIFT_FLOAT_KERNELS_H_

namespace rshift {

extern const bool kHasFloatKernels;
// Before the first session; idempotent and thread-safe.
void RegisterFloatKernels();

}  // namespace rshift

#endif  // RSHIFT_RSHIFT_FLOAT_KERNELS_H_
