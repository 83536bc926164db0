// Rows of numerics::SoftmaxQuotient in one call, where an instruction set looks up bytes by the 64.
#ifndef RSHIFT_RUNTIME_KERNELS_SOFTMAX_ROWS_H_
#define RSHIFT_RUNTIME_KERNELS_SOFTMAX_ROWS_H_

#include <array>
#include <cstdint>

#include "isa/attributes.h"
#include "runtime/kernels/normalize.h"

namespace rshift {

struct SoftmaxRowsArgs {
  // By the difference to the row's greatest; all 0 from `places` on, where no quotient is more.
  alignas(64) std::array<uint32_t, 256> entries = {};
  // Byte k of table entry d at [k][d], for all 256.
  alignas(64) std::array<std::array<uint8_t, 256>, 4> planes = {};
  int32_t places = 256;
  uint8_t flip = 0;  // s8: 0x80
  RequantWords inverse_scale;
  OutputBounds bounds;
};

// words: the command's table.
SoftmaxRowsArgs MakeSoftmaxRows(const std::array<int32_t, 256>& words, uint8_t flip,
                                const RequantWords& inverse_scale, const OutputBounds& bounds);

// x, y: rows one after another.
using SoftmaxRowsFn = void (*)(const SoftmaxRowsArgs& args, const uint8_t* x, int64_t rows,
                               int64_t columns, uint8_t* y) noexcept;
// Null where none is faster than the step's own loops.
SoftmaxRowsFn SoftmaxRowsFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SOFTMAX_ROWS_H_
