#include "runtime/kernels/transpose_int16.h"

#include <cstring>

#include "runtime/kernels/generic/transpose_squares.h"

namespace rshift {
namespace {

typedef uint16_t Eight __attribute__((vector_size(16)));
using Square = TransposeSquare<uint16_t>;

// Pairs of registers are interleaved three times: register i with i + 4 each time.
inline Eight Low(Eight a, Eight b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
inline Eight High(Eight a, Eight b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

void SquareOfEight(const Square& s) {
  Eight x[8], y[8];
  for (int64_t c = 0; c < 8; ++c) std::memcpy(&x[c], s.src + c * s.src_pitch, sizeof x[c]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) y[2 * i] = Low(x[i], x[i + 4]), y[2 * i + 1] = High(x[i], x[i + 4]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) x[2 * i] = Low(y[i], y[i + 4]), x[2 * i + 1] = High(y[i], y[i + 4]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) y[2 * i] = Low(x[i], x[i + 4]), y[2 * i + 1] = High(x[i], x[i + 4]);
  for (int64_t r = 0; r < 8; ++r) std::memcpy(s.dst + r * s.dst_pitch, &y[r], sizeof y[r]);
}

}  // namespace

void TransposeInt16(const uint16_t* src, int64_t src_pitch, int64_t rows, int64_t columns,
                    uint16_t* dst, int64_t dst_pitch) noexcept {
  const Square all{src, src_pitch, dst, dst_pitch};
  if (rows >= 8 && columns >= 8) return TransposeBySquares<8, SquareOfEight>(all, rows, columns);
  TransposeOneByOne(all, rows, columns);
}

}  // namespace rshift
