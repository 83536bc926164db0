// Matrix products.
#ifndef RSHIFT_ISA_OPS_MATMUL_H_
#define RSHIFT_ISA_OPS_MATMUL_H_

#include "isa/ops/linear.h"

namespace rshift::isa {

struct MatMul {
  RSHIFT_COMMAND(kMatMul, "matmul", kInteger,
                 "src [..., M, K] times packed s8 weights [K, N], one requant record per column",
                 .leads_epilogue = true, .macs = MacForm::kMatMul, .buffers = BufferForm::kRequant,
                 .mac_ns = 0.004, .element_ns = 0.2)  // [0.11, 4.5]

  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  HalfEpilogue half = {.quant_scale = 0};  // kHalfFloat
  Tensor dst = 0, src = 0;
  Tensor weights = 0, requant = 0;
  Tensor zero_w = kAbsent;
  Tensor src2 = kAbsent;      // what a kSum post-operation adds
  Tensor post_ops = kAbsent;  // four numbers for each

  static constexpr void Fields(auto& c, auto&& visit) {
    WeightFields(c, visit);
    EpilogueFields(c, visit);
  }
};

// Of two activations: acc = sum over K of (src - Z) * (src2 - Z), one factor for all columns.
struct BatchedMatMul {
  RSHIFT_COMMAND(kBatchedMatMul, "batched_matmul", kInteger,
                 "src [..., M, K] times src2 [..., K, N] with broadcasting: requantize(sum of "
                 "(src - Z) * (src2 - Z)) + Zdst",
                 .macs = MacForm::kMatMul, .buffers = BufferForm::kPackedSrc2, .mac_ns = 0.004,
                 .element_ns = 0.3)

  RequantWords words;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
  }
};

struct MatMulF32 {
  RSHIFT_COMMAND(kMatMulF32, "matmul_f32", kFloatLibrary,
                 "src [..., M, K] times src2 [..., K, N] with broadcasting, src3 bias [N]",
                 .macs = MacForm::kMatMul, .buffers = BufferForm::kSrc2, .mac_ns = 0.012,
                 .element_ns = 0.5)  // [0.3, 1.7]; a product [0.009, 0.018]

  Clamp clamp;
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor src3 = kAbsent;  // bias

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    ClampFields(c.clamp, visit);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_MATMUL_H_
