// What the comparisons of BinaryOp say of two numbers, integers or reals.
#ifndef RSHIFT_QUANTIZE_NUMERICS_COMPARE_H_
#define RSHIFT_QUANTIZE_NUMERICS_COMPARE_H_

#include "isa/functions.h"

namespace rshift::numerics {

inline constexpr bool IsComparison(BinaryOp op) {
  return op >= BinaryOp::kEqual && op <= BinaryOp::kGreaterOrEqual;
}

// op: a comparison.
template <typename T>
constexpr bool Compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::kEqual:
      return a == b;
    case BinaryOp::kLess:
      return a < b;
    case BinaryOp::kLessOrEqual:
      return a <= b;
    case BinaryOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_COMPARE_H_
