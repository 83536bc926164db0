// Reductions.
#ifndef RSHIFT_ISA_OPS_REDUCE_H_
#define RSHIFT_ISA_OPS_REDUCE_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct ReduceF32 {
  static constexpr Opcode kOpcode = Opcode::kReduceF32;
  static constexpr const char* kName = "reduce_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "mode: ReduceOp over the axes in list";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Tensor list = 0;
  ReduceOp op = ReduceOp::kMean;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Const(Field::kList), c.list);
    visit(Mode(kReduceOpCount), c.op);
  }
};

struct ArgMax {
  static constexpr Opcode kOpcode = Opcode::kArgMax;
  static constexpr const char* kName = "argmax";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary =
      "index on axis as s64; flags 1: minimum, 2: the last of equals";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  int64_t axis = 0;
  bool min = false, select_last_index = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Flags(2), c.min, c.select_last_index);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_REDUCE_H_
