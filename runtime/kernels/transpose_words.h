// The transpose of a matrix of four-byte elements, the inner loop of Transpose of floats between
// NCHW and NHWC.
#ifndef RSHIFT_RUNTIME_KERNELS_TRANSPOSE_WORDS_H_
#define RSHIFT_RUNTIME_KERNELS_TRANSPOSE_WORDS_H_

#include <cstdint>

#include "runtime/runtime.h"

namespace rshift {

// Word c of dst's row r = word r of src's row c, for r < rows, c < columns. Pitches are in words.
// Reads and writes nothing else.
using TransposeWordsFn = void (*)(const uint32_t* src, int64_t src_pitch, int64_t rows,
                                  int64_t columns, uint32_t* dst, int64_t dst_pitch) noexcept;

// For any CPU.
void TransposeWords(const uint32_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                    uint32_t* dst, int64_t dst_pitch) noexcept;

TransposeWordsFn TransposeWordsFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_TRANSPOSE_WORDS_H_
