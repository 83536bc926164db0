// The second factor of a product of two activations, brought at run time into the layout of packed
// weights (codegen/packing/packing.h).
#ifndef RSHIFT_RUNTIME_KERNELS_PACK_COLUMNS_H_
#define RSHIFT_RUNTIME_KERNELS_PACK_COLUMNS_H_

#include <cstdint>

namespace rshift {

// One panel: dst[k / 4][width][k % 4] = src[k * pitch + column] XOR flip for k < rows and column <
// columns, and 0 where k or the column does not exist. `width`: columns rounded up to 16. Reads and
// writes nothing else.
void PackColumns(const uint8_t* src, int64_t pitch, int64_t rows, int64_t columns, uint8_t flip,
                 int8_t* dst) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_PACK_COLUMNS_H_
