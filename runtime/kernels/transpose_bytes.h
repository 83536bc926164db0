// The transpose of a matrix of bytes, the inner loop of Transpose between NCHW and NHWC.
#ifndef RSHIFT_RUNTIME_KERNELS_TRANSPOSE_BYTES_H_
#define RSHIFT_RUNTIME_KERNELS_TRANSPOSE_BYTES_H_

#include <cstdint>

#include "runtime/runtime.h"

namespace rshift {

// dst[r * dst_pitch + c] = src[c * src_pitch + r] for r < rows, c < columns. Reads and writes
// nothing else. dst_pitch >= columns.
using TransposeBytesFn = void (*)(const uint8_t* src, int64_t src_pitch, int64_t rows,
                                  int64_t columns, uint8_t* dst, int64_t dst_pitch) noexcept;

// For any CPU.
void TransposeBytes(const uint8_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                    uint8_t* dst, int64_t dst_pitch) noexcept;

// Isa::kAvx512Vnni also asks the CPU for VBMI.
TransposeBytesFn TransposeBytesFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_TRANSPOSE_BYTES_H_
