// What the comparisons of BinaryOp say of two numbers, integers or reals.
#ifndef RSHIFT_QUANTIZE_NUMERICS_COMPARE_H_
#define RSHIFT_QUANTIZE_NUMERICS_COMPARE_H_

#include "isa/functions.h"

namespace rshift::numerics {

inline constexpr bool IsComparison(BinaryOp op) {
  return op >= BinaryOp::kEqual && op <= BinaryOp::kGreaterOrEqual;
}

// op: a comparison; false of others.
template <typename T>
constexpr bool Compare(BinaryOp op, T a, T b) {
  return (op == BinaryOp::kEqual && a == b) || (op == BinaryOp::kLess && a < b) ||
         (op == BinaryOp::kLessOrEqual && a <= b) || (op == BinaryOp::kGreater && a > b) ||
         (op == BinaryOp::kGreaterOrEqual && a >= b);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_COMPARE_H_
