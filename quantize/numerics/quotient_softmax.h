// The table of tpu's softmax. NUMERICS.md section 26.
#ifndef RSHIFT_QUANTIZE_NUMERICS_QUOTIENT_SOFTMAX_H_
#define RSHIFT_QUANTIZE_NUMERICS_QUOTIENT_SOFTMAX_H_

#include <array>
#include <cstdint>

#include "quantize/numerics/elementary.h"
#include "quantize/numerics/softmax_row.h"

namespace rshift::numerics {

// Entry d: exp(-d S) in Q2.30, to the nearest.
inline std::array<int32_t, 256> QuotientSoftmaxTable(float scale) {
  std::array<int32_t, 256> table;
  for (size_t d = 0; d < table.size(); ++d) {
    const double exp = Exp(-static_cast<double>(d) * static_cast<double>(scale));
    table[d] = static_cast<int32_t>(RoundHalfEven(exp * kSoftmaxOne));
  }
  return table;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_QUOTIENT_SOFTMAX_H_
