// The transpose of a matrix of two-byte elements, the inner loop of Transpose of 16-bit activations
// between NCHW and NHWC. In squares of eight registers of eight elements, on every CPU.
#ifndef RSHIFT_RUNTIME_KERNELS_TRANSPOSE_INT16_H_
#define RSHIFT_RUNTIME_KERNELS_TRANSPOSE_INT16_H_

#include <cstdint>

namespace rshift {

// dst[r * dst_pitch + c] = src[c * src_pitch + r] for r < rows, c < columns. Pitches are in
// elements. Reads and writes nothing else.
void TransposeInt16(const uint16_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                    uint16_t* dst, int64_t dst_pitch) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_TRANSPOSE_INT16_H_
