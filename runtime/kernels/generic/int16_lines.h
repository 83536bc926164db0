// Straight lines between the entries of tables of s32 (numerics::InterpolateTable) by loads of two
// neighbours at once: the gathers that the compiler makes take several times as long on many CPUs.
#ifndef RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_LINES_H_
#define RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_LINES_H_

#include <cstdint>

#include "runtime/kernels/int16.h"

namespace rshift {

#if defined(__x86_64__)
// y[i] of v[i], i < n, by the table of 2^(16 - step_bits) + 1 entries that begins at `tables`, or
// that of number table_of[i] from there on. Returns how many it has done, the first ones.
int64_t LinesAvx2(const int32_t* tables, const uint8_t* table_of, int32_t step_bits,
                  const int32_t* v, int64_t n, const S16Bounds& bounds, int32_t* y) noexcept;
int64_t LinesAvx512(const int32_t* tables, const uint8_t* table_of, int32_t step_bits,
                    const int32_t* v, int64_t n, const S16Bounds& bounds, int32_t* y) noexcept;
#endif

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_LINES_H_
