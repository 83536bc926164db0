// What convolutions and matrix products share: operands, and what follows the accumulator. dst is
// bytes, or f32 under kFloatZeroEven: the value behind the post-operations as it is.
#ifndef RSHIFT_ISA_OPS_LINEAR_H_
#define RSHIFT_ISA_OPS_LINEAR_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

template <typename C, typename Visit>
constexpr void WeightFields(C& c, Visit&& visit) {
  visit(View(Out(Field::kDst)), c.dst);
  visit(View(In(Field::kSrc)), c.src);
  visit(Const(Field::kWeights), c.weights);
  visit(Const(Field::kRequant), c.requant);
  visit(OptionalConst(Field::kZeroW), c.zero_w);
}

// Clamp and rounding; kFloatZeroEven: post-operations with their addend; kHalfFloat: AscendQuant.
template <typename C, typename Visit>
constexpr void EpilogueFields(C& c, Visit&& visit) {
  ClampFields(c.clamp, visit);
  RoundingField(c.rounding, visit);
  visit(Optional(Field::kSrc2), c.src2);
  visit(OptionalConst(Field::kList), c.post_ops);
  visit(Flags(3), c.half.relu, c.half.sqrt_dequant, c.half.sqrt_quant);
  visit(Mode(kRealRoundingCount), c.half.mode);
  visit(Float(Field::kScaleF), c.half.quant_scale);
  visit(Float(Field::kOffsetF), c.half.quant_offset);
}

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_LINEAR_H_
