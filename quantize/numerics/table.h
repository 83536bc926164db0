// Functions of one value as a table of 256 bytes. NUMERICS.md section 10.
#ifndef RSHIFT_QUANTIZE_NUMERICS_TABLE_H_
#define RSHIFT_QUANTIZE_NUMERICS_TABLE_H_

#include <cstdint>

#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// The value that byte `index` of a tensor stands for.
inline constexpr int32_t ValueOfByte(int index, bool is_signed) {
  return is_signed && index >= 128 ? index - 256 : index;
}

// round(real / scale) + zero, saturated to [lo, hi], in binary64, ties to even. NaN gives zero.
inline constexpr int32_t QuantizeReal(double real, float scale, int32_t zero, int32_t lo,
                                      int32_t hi) {
  if (real != real) return zero < lo ? lo : zero > hi ? hi : zero;
  double v = real / static_cast<double>(scale);
  const double low = lo - zero, high = hi - zero;
  if (v < low) v = low;
  if (v > high) v = high;
  return static_cast<int32_t>(RoundHalfEven(v)) + zero;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_TABLE_H_
