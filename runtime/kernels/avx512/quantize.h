// Real numbers to bytes, 64 at a time. The functions need AVX-512 F, BW, DQ, VL; the unit may be
// built for any x86-64.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512_QUANTIZE_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512_QUANTIZE_H_

#include "runtime/kernels/elementwise.h"

namespace rshift {

// ElementwiseTable::quantize and quantize_reciprocal for RealRounding::kEven.
void QuantizeEvenAvx512(const QuantizeArgs& args, int64_t begin, int64_t end) noexcept;
void QuantizeEvenByReciprocalAvx512(const QuantizeArgs& args, int64_t begin, int64_t end) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512_QUANTIZE_H_
