// The table of tpu's softmax. NUMERICS.md section 26.
#ifndef RSHIFT_QUANTIZE_NUMERICS_QUOTIENT_SOFTMAX_H_
#define RSHIFT_QUANTIZE_NUMERICS_QUOTIENT_SOFTMAX_H_

#include <array>
#include <cstdint>
#include <vector>

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

// --- of s16: exp(-d S) as a product of two entries, d = 256 i + j. NUMERICS.md section 29.7 ---

inline constexpr int32_t kSoftmaxProductEntries = 256;  // of each of the two tables
// Elements of a row whose results have 16 bits: they err by 3/8 of a unit beyond their rounding.
inline constexpr int64_t kMostSoftmaxToInt16 = int64_t{1} << 13;

// exp(-256 i S), then exp(-j S), in Q2.30.
inline std::vector<int32_t> SoftmaxProductTables(float scale) {
  std::vector<int32_t> tables;
  for (const double step : {256.0, 1.0}) {
    for (int32_t i = 0; i < kSoftmaxProductEntries; ++i) {
      const double exp = Exp(-step * i * static_cast<double>(scale));
      tables.push_back(static_cast<int32_t>(RoundHalfEven(exp * kSoftmaxOne)));
    }
  }
  return tables;
}

// exp(-d S) in Q2.30, for d = 0..65535.
inline constexpr int32_t SoftmaxProductEntry(const int32_t* tables, int32_t d) {
  const int64_t product = int64_t{tables[d >> 8]} * tables[kSoftmaxProductEntries + (d & 255)];
  return static_cast<int32_t>((product + (1 << 29)) >> 30);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_QUOTIENT_SOFTMAX_H_
