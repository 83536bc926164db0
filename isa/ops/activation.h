// Functions of one element.
#ifndef RSHIFT_ISA_OPS_ACTIVATION_H_
#define RSHIFT_ISA_OPS_ACTIVATION_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct LeakyRelu {
  static constexpr Opcode kOpcode = Opcode::kLeakyRelu;
  static constexpr const char* kName = "leaky_relu";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary =
      "negative side * multiplier >> rshift, positive side * multiplier2 >> rshift2 (0: factor 1)";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0;
  int32_t multiplier = 0, rshift = 0;
  RequantWords positive;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool fuse_with_previous = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Int(Field::kMultiplier, kInt32Min, kInt32Max), c.multiplier);
    visit(Int(Field::kRshift, 0, 62), c.rshift);
    WordFields(Field::kMultiplier2, Field::kRshift2, c.positive, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct PRelu {
  static constexpr Opcode kOpcode = Opcode::kPRelu;
  static constexpr const char* kName = "prelu";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary =
      "as leaky_relu with s8 slopes src2 [C] or [1] along the last dimension";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0, src2 = 0;
  int32_t rshift = 0;
  RequantWords positive;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool fuse_with_previous = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Const(Field::kSrc2), c.src2);
    visit(Int(Field::kRshift, 0, 62), c.rshift);
    WordFields(Field::kMultiplier2, Field::kRshift2, c.positive, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct Table {
  static constexpr Opcode kOpcode = Opcode::kTable;
  static constexpr const char* kName = "table";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary = "dst byte = table[src byte]";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0;
  Tensor table = 0;
  bool fuse_with_previous = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Const(Field::kTable), c.table);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct UnaryF32 {
  static constexpr Opcode kOpcode = Opcode::kUnaryF32;
  static constexpr const char* kName = "unary_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "mode: UnaryOp with alpha, beta";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0;
  UnaryOp op = UnaryOp::kSigmoid;
  float alpha = 0, beta = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Mode(kUnaryOpCount), c.op);
    visit(Float(Field::kAlphaF), c.alpha);
    visit(Float(Field::kBetaF), c.beta);
  }
};

struct ClipF32 {
  static constexpr Opcode kOpcode = Opcode::kClipF32;
  static constexpr const char* kName = "clip_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "min(max(src, clamp_lo), clamp_hi)";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0;
  Clamp clamp;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    ClampFields(c.clamp, visit);
  }
};

struct LeakyReluF32 {
  static constexpr Opcode kOpcode = Opcode::kLeakyReluF32;
  static constexpr const char* kName = "leaky_relu_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "src >= 0 ? src : alpha * src";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0;
  float alpha = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Float(Field::kAlphaF), c.alpha);
  }
};

struct PReluF32 {
  static constexpr Opcode kOpcode = Opcode::kPReluF32;
  static constexpr const char* kName = "prelu_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "src >= 0 ? src : src2 * src, src2 broadcast";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0, src2 = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(In(Field::kSrc2), c.src2);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_ACTIVATION_H_
