// Reductions.
#ifndef RSHIFT_ISA_OPS_REDUCE_H_
#define RSHIFT_ISA_OPS_REDUCE_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct ReduceF32 {
  RSHIFT_COMMAND(
      kReduceF32, "reduce_f32", kFloat,
      "mode: ReduceOp over the axes in list, of f32; but for l2, logsum and logsumexp of "
      "s32 and s64, too, max and min of bool",
      .buffers = BufferForm::kNone, .element_ns = 2)  // [0.35, 5.9]

  ReduceOp op = ReduceOp::kMean;
  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kList), c.list);
    visit(Mode(kReduceOpCount), c.op);
  }
};

// LiteRT's product of rows: numerics::ScaledProduct (quantize/numerics/tflite.h).
struct Product {
  RSHIFT_COMMAND(kProduct, "product", kInteger,
                 "src [outer, n, 1, inner] of s8, u8 or s16 to dst [outer, 1, 1, inner] of its "
                 "type: p = src - Z of the first row; for each row behind it p = p * (src - Z) * "
                 "multiplier >> rshift, held to 32 bits; then (p * multiplier >> rshift) + Zdst, "
                 "clamped",
                 .buffers = BufferForm::kNone, .element_ns = 20)

  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Int(Field::kMultiplier, 0, 32767), c.words.multiplier);
    visit(Int(Field::kRshift, 0, 46), c.words.rshift);
    ClampFieldsS16(c.clamp, visit);
  }
};

// Sums of squares, and their roots: quantize/numerics/squares.h.
struct ReduceSquares {
  RSHIFT_COMMAND(kReduceSquares, "reduce_squares", kInteger,
                 "src [outer, n, 1, inner] of s8, u8 or s16 to dst [outer, 1, 1, inner] of one of "
                 "them: v = the sum of (src - Zsrc)^2 over n; flags 1: its square root; "
                 "clamp((v * multiplier >> rshift) + Zdst), rounded half up",
                 .buffers = BufferForm::kNone, .element_ns = 0.5)

  bool root = false;
  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Int(Field::kMultiplier, 0, (1 << 24) - 1), c.words.multiplier);
    visit(Int(Field::kRshift, 0, 62), c.words.rshift);
    ClampFieldsS16(c.clamp, visit);
    visit(Flags(1), c.root);
  }
};

struct ArgMax {
  RSHIFT_COMMAND(kArgMax, "argmax", kFloat,
                 "index on axis as s64; flags 1: minimum, 2: the last of equals",
                 .buffers = BufferForm::kNone, .element_ns = 2)  // [0.7, 2.9]

  int64_t axis = 0;
  bool min = false, select_last_index = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Flags(2), c.min, c.select_last_index);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_REDUCE_H_
