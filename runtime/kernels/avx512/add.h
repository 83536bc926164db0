// Additions of bytes, 64 at a time. The functions need AVX-512 F, BW, DQ, VL, VNNI; the unit may be
// built for any x86-64.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512_ADD_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512_ADD_H_

#include "runtime/kernels/elementwise.h"

namespace rshift {

// ElementwiseTable::add for multipliers of 16 bits, in words where every sum fits one. false, with
// nothing done: a multiplier is wider, or the shift too far.
bool AddAvx512(const AddArgs& args, const RowBlock& rows) noexcept;

// ElementwiseTable::add_float_near.
void AddFloatNearAvx512(const AddFloatArgs& args, const RowBlock& rows) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512_ADD_H_
