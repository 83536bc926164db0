// Functions of one element.
#ifndef RSHIFT_ISA_OPS_ACTIVATION_H_
#define RSHIFT_ISA_OPS_ACTIVATION_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct LeakyRelu {
  RSHIFT_COMMAND(
      kLeakyRelu, "leaky_relu", kInteger,
      "negative side * multiplier >> rshift, positive side * multiplier2 >> rshift2 (0: factor 1)",
      .in_place = true, .buffers = BufferForm::kTable, .element_ns = 0.1)  // [0.01, 0.25]

  int32_t multiplier = 0, rshift = 0;
  RequantWords positive;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Int(Field::kMultiplier, kInt32Min, kInt32Max), c.multiplier);
    visit(Int(Field::kRshift, 0, 62), c.rshift);
    WordFields(Field::kMultiplier2, Field::kRshift2, c.positive, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct PRelu {
  RSHIFT_COMMAND(kPRelu, "prelu", kInteger,
                 "as leaky_relu with s8 slopes src2 [C] or [1] along the last dimension",
                 .in_place = true, .buffers = BufferForm::kChannelTables,
                 .element_ns = 0.1)  // [0.02, 0.11]

  int32_t rshift = 0;
  RequantWords positive;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Const(Field::kSrc2), c.src2);
    visit(Int(Field::kRshift, 0, 62), c.rshift);
    WordFields(Field::kMultiplier2, Field::kRshift2, c.positive, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct Table {
  RSHIFT_COMMAND(kTable, "table", kInteger, "dst byte = table[src byte]", .in_place = true,
                 .buffers = BufferForm::kTable, .element_ns = 0.1)  // [0.01, 0.2]

  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Const(Field::kTable), c.table);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct ChannelTables {
  RSHIFT_COMMAND(kChannelTables, "channel_tables", kInteger,
                 "dst byte = table[256 * src2[channel] + src byte], src2 [C] along the last "
                 "dimension",
                 .in_place = true, .buffers = BufferForm::kPlacesOfTables, .element_ns = 1)

  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Const(Field::kSrc2), c.src2);
    visit(Const(Field::kTable), c.table);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct UnaryF32 {
  RSHIFT_COMMAND(kUnaryF32, "unary_f32", kFloat, "mode: UnaryOp with alpha, beta", .in_place = true,
                 .buffers = BufferForm::kNone, .element_ns = 5)  // [2.8, 6.6]

  UnaryOp op = UnaryOp::kSigmoid;
  float alpha = 0, beta = 0;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Mode(kUnaryOpCount), c.op);
    visit(Float(Field::kAlphaF), c.alpha);
    visit(Float(Field::kBetaF), c.beta);
  }
};

struct ClipF32 {
  RSHIFT_COMMAND(kClipF32, "clip_f32", kFloat, "min(max(src, clamp_lo), clamp_hi)",
                 .in_place = true, .buffers = BufferForm::kNone, .element_ns = 0.1)  // [0.09, 0.09]

  Clamp clamp;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    ClampFields(c.clamp, visit);
  }
};

struct LeakyReluF32 {
  RSHIFT_COMMAND(kLeakyReluF32, "leaky_relu_f32", kFloat, "src >= 0 ? src : alpha * src",
                 .in_place = true, .buffers = BufferForm::kNone, .element_ns = 0.1)

  float alpha = 0;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Float(Field::kAlphaF), c.alpha);
  }
};

struct PReluF32 {
  RSHIFT_COMMAND(kPReluF32, "prelu_f32", kFloat, "src >= 0 ? src : src2 * src, src2 broadcast",
                 .in_place = true, .buffers = BufferForm::kNone, .element_ns = 0.1)  // [0.06, 0.22]

  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_ACTIVATION_H_
