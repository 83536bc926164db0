// Matrix products.
#ifndef RSHIFT_ISA_OPS_MATMUL_H_
#define RSHIFT_ISA_OPS_MATMUL_H_

#include "isa/ops/linear.h"

namespace rshift::isa {

struct MatMul {
  static constexpr Opcode kOpcode = Opcode::kMatMul;
  static constexpr const char* kName = "matmul";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary =
      "src [..., M, K] times packed s8 weights [K, N], one requant record per column";
  static constexpr OpTraits kTraits = {.leads_epilogue = true};

  Tensor dst = 0, src = 0;
  Tensor weights = 0, requant = 0;
  Tensor zero_w = kAbsent;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  Tensor src2 = kAbsent;                   // what a kSum post-operation adds
  Tensor post_ops = kAbsent;               // four numbers for each
  HalfEpilogue half = {.quant_scale = 0};  // kHalfFloat

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    WeightFields(c, visit);
    EpilogueFields(c, visit);
  }
};

struct MatMulF32 {
  static constexpr Opcode kOpcode = Opcode::kMatMulF32;
  static constexpr const char* kName = "matmul_f32";
  static constexpr OpClass kClass = OpClass::kFloatLibrary;
  static constexpr const char* kSummary =
      "src [..., M, K] times src2 [..., K, N] with broadcasting, src3 bias [N]";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0, src2 = 0;
  Tensor src3 = kAbsent;  // bias
  Clamp clamp;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(In(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    ClampFields(c.clamp, visit);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_MATMUL_H_
