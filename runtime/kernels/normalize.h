// Rows of bytes normalized, and the quotients of a softmax: loops of 64-bit products that gain from
// wide registers. One body for all instruction sets, as elementwise.h; the same values everywhere.
#ifndef RSHIFT_RUNTIME_KERNELS_NORMALIZE_H_
#define RSHIFT_RUNTIME_KERNELS_NORMALIZE_H_

#include <cstdint>

#include "quantize/numerics/normalize.h"
#include "quantize/numerics/softmax_row.h"
#include "runtime/runtime.h"

namespace rshift {

// What the bytes of an output are held to.
struct OutputBounds {
  int32_t zero = 0, lo = 0, hi = 0;
};

// y[i] = numerics::SoftmaxQuotient of entries[i], i < count.
using SoftmaxQuotientsFn = void (*)(const int32_t* entries, int64_t count,
                                    const numerics::SoftmaxQuotientRow& row,
                                    const OutputBounds& bounds, uint8_t* y) noexcept;
SoftmaxQuotientsFn SoftmaxQuotientsFor(Isa isa);

// Sums of x and of x^2 as the bytes' own type has them.
struct ByteSums {
  int64_t sum = 0, squares = 0;
};

// The elements of a row, or channels of a pixel, all or each by numbers of its own.
struct NormalizeArgs {
  const uint8_t* x = nullptr;
  uint8_t* y = nullptr;
  uint8_t flip = 0;  // s8: 0x80, and x is x + 128 throughout
  int32_t n = 0;     // D = n x - center
  const int32_t* factors = nullptr;
  const int64_t* offsets = nullptr;
  int32_t rshift = 0, lo = 0, hi = 0;
  // Of all elements.
  int32_t center = 0;
  numerics::InverseDeviation by;
  // Of each one, for Channels.
  const int32_t* centers = nullptr;
  const int32_t* inverses = nullptr;
  const int64_t* shifts = nullptr;
};

struct NormalizeTable {
  // Of x[i] ^ flip, i < count <= numerics::kMostNormalized.
  ByteSums (*sums)(const uint8_t* x, uint8_t flip, int64_t count) noexcept;
  // Adds a pixel's channels to their sums; count <= 64. Less than 2^15 pixels.
  void (*channel_sums)(const uint8_t* x, uint8_t flip, int64_t count, int32_t* sum,
                       int32_t* squares) noexcept;
  void (*row)(const NormalizeArgs& args, int64_t count) noexcept;
  void (*channels)(const NormalizeArgs& args, int64_t count) noexcept;
};
const NormalizeTable& NormalizeFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_NORMALIZE_H_
