// What convolutions and matrix products share: what follows the accumulator.
#ifndef RSHIFT_ISA_OPS_LINEAR_H_
#define RSHIFT_ISA_OPS_LINEAR_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

// kFloatZeroEven: post-operations with their addend; kHalfFloat: AscendQuant.
template <typename C, typename Visit>
constexpr void EpilogueFields(C& c, Visit&& visit) {
  visit(Optional(Field::kSrc2), c.src2);
  visit(OptionalConst(Field::kList), c.post_ops);
  visit(Flags(3), c.half.relu, c.half.sqrt_dequant, c.half.sqrt_quant);
  visit(Mode(kRealRoundingCount), c.half.mode);
  visit(Float(Field::kScaleF), c.half.quant_scale);
  visit(Float(Field::kOffsetF), c.half.quant_offset);
}

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_LINEAR_H_
