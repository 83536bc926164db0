// What convolutions and matrix products share: operands, and what follows the accumulator. dst is
// bytes, or f32 under kFloatZeroEven: the value behind the post-operations as it is; or f16 under
// kHalfFloat: the value before AscendQuant, whose fields are then 0.
#ifndef RSHIFT_ISA_OPS_LINEAR_H_
#define RSHIFT_ISA_OPS_LINEAR_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

constexpr void WeightFields(auto& c, auto&& visit) {
  ViewFields(c, visit);
  visit(Const(Field::kWeights), c.weights);
  visit(Const(Field::kRequant), c.requant);
  visit(OptionalConst(Field::kZeroW), c.zero_w);
}

// Clamp and rounding; kFloatZeroEven: post-operations with their addend; kHalfFloat: AscendQuant.
constexpr void EpilogueFields(auto& c, auto&& visit) {
  ClampFields(c.clamp, visit);
  RoundingField(c.rounding, visit);
  visit(Optional(Field::kSrc2), c.src2);
  visit(OptionalConst(Field::kList), c.post_ops);
  visit(Flags(4), c.half.relu, c.half.sqrt_dequant, c.half.sqrt_quant, c.half.relu_flag);
  visit(Mode(kRealRoundingCount), c.half.mode);
  visit(Float(Field::kScaleF), c.half.quant_scale);
  visit(Float(Field::kOffsetF), c.half.quant_offset);
}

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_LINEAR_H_
