// Permutations of bytes. The functions need AVX-512 F, BW, DQ, VL, VBMI; the units may be built for
// any x86-64.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512_VBMI_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512_VBMI_H_

#include "runtime/kernels/lut.h"
#include "runtime/kernels/shuffle_bytes.h"
#include "runtime/kernels/softmax_rows.h"
#include "runtime/kernels/transpose_bytes.h"

namespace rshift {

// LutFn.
void LutVbmi(const uint8_t* table, const uint8_t* x, uint8_t* y, const RowBlock& rows) noexcept;
// ChannelLutFn.
void ChannelLutVbmi(const ChannelLutArgs& args, int64_t first, const uint8_t* x, uint8_t* y,
                    int64_t n) noexcept;
// PReluFn.
void PReluVbmi(const PReluArgs& args, const uint8_t* x, uint8_t* y, const RowBlock& rows) noexcept;
// ShuffleBytesFn.
void ShuffleBytesVbmi(const ShuffleBlock* blocks, int64_t count, const uint8_t* src,
                      uint8_t* dst) noexcept;
// TransposeBytesFn.
void TransposeBytesVbmi(const uint8_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                        uint8_t* dst, int64_t dst_pitch) noexcept;

// SoftmaxRowsFn.
void SoftmaxRowsVbmi(const SoftmaxRowsArgs& args, const uint8_t* x, int64_t rows, int64_t columns,
                     uint8_t* y) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512_VBMI_H_
