// Attributes that several operators and commands have: each fact has one type, from the graph to
// the kernels.
#ifndef RSHIFT_ISA_ATTRIBUTES_H_
#define RSHIFT_ISA_ATTRIBUTES_H_

#include "isa/functions.h"

namespace rshift {

// What kFloatZeroEven does between scale and zero point; the formula is its kind's in
// isa/functions.def.
struct PostOp {
  PostOpKind kind = PostOpKind::kRelu;
  float alpha = 0, beta = 0, scale = 1;
};

}  // namespace rshift

#endif  // RSHIFT_ISA_ATTRIBUTES_H_
