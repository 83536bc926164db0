// Element-wise commands on two or three tensors; Cast.
#ifndef RSHIFT_ISA_OPS_ELTWISE_H_
#define RSHIFT_ISA_OPS_ELTWISE_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct Add {
  RSHIFT_COMMAND(kAdd, "add", kInteger,
                 "clamp((((src - Z) * multiplier + (src2 - Z) * multiplier2) >> rshift) + Zdst)",
                 .in_place = true, .broadcasts_constant = true,
                 .element_ns = 0.2)  // [0.05, 0.1]

  int32_t multiplier = 0, multiplier2 = 0, rshift = 0;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    visit(Int(Field::kMultiplier, kInt32Min, kInt32Max), c.multiplier);
    visit(Int(Field::kMultiplier2, kInt32Min, kInt32Max), c.multiplier2);
    visit(Int(Field::kRshift, 0, 62), c.rshift);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct AddFloat {
  RSHIFT_COMMAND(
      kAddFloat, "add_float", kInteger,
      "dequantize both, add in float, requantize; scales and zero points from the tensor table",
      .in_place = true, .broadcasts_constant = true,
      .element_ns = 0.1)  // [0.03, 0.26]

  ClampQ clamp = {0, 0};
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    ClampFields(c.clamp, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

// TFLite: u = rescale((a - Za) << left_shift) by `words`, v of b by `words2`,
// y = clamp(rescale(u + v) + Zy) by `words3`.
struct AddShifted {
  RSHIFT_COMMAND(
      kAddShifted, "add_shifted", kInteger,
      "each operand << count rescaled by its pair, the sum by the third; mode: AddBlocks",
      .in_place = true, .broadcasts_constant = true,
      .element_ns = 0.2)  // [0.13, 0.4]

  RequantWords words, words2, words3;  // of src, of src2, of the sum
  int32_t left_shift = 0;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  AddBlocks blocks = AddBlocks::kNone;
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    WordFields(Field::kMultiplier2, Field::kRshift2, c.words2, visit);
    WordFields(Field::kMultiplier3, Field::kRshift3, c.words3, visit);
    visit(Int(Field::kCount, 0, 20), c.left_shift);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    visit(Mode(kAddBlocksCount), c.blocks);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

// ONNX Runtime: y = clamp(to_even(fma(a, ratio_a, fma(b, ratio_b, fixed)))) on unsigned bytes: it
// turns s8 tensors into u8 before anything else, so a, b and Z of an s8 tensor are taken + 128, and
// 128 is subtracted from the result (`fixed` is of the unsigned zero points). keeps_sign: its
// kernels for s8 tensors, which compute with a, b and Z as they are. fma: one rounding.
struct AddFma {
  RSHIFT_COMMAND(kAddFma, "add_fma", kInteger,
                 "to_even(fma(src, scale, fma(src2, alpha, offset))), raw bytes; flags 1: s8 as it "
                 "is, not + 128",
                 .in_place = true, .broadcasts_constant = true,
                 .element_ns = 0.2)  // [0.06, 0.26]

  float ratio_a = 0, ratio_b = 0, fixed = 0;
  ClampQ clamp = {0, 0};
  bool keeps_sign = false;
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    visit(Float(Field::kScaleF), c.ratio_a);
    visit(Float(Field::kAlphaF), c.ratio_b);
    visit(Float(Field::kOffsetF), c.fixed);
    ClampFields(c.clamp, visit);
    visit(Flags(1), c.keeps_sign);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

// OpenVINO's eltwise kernels: one operand counted in units of the other, the sum scaled; every
// operation in f32, the fma with one rounding.
struct AddScaled {
  RSHIFT_COMMAND(
      kAddScaled, "add_scaled", kInteger,
      "clamp(to_even(fma(src - beta, alpha, src2) * scale + offset_f) - offset), raw bytes",
      .in_place = true, .broadcasts_constant = true, .element_ns = 5)

  float zero_a = 0, ratio = 0;  // fma(a - zero_a, ratio, b)
  float scale = 0, shift = 0;
  int32_t after = 0;  // subtracted from the rounded number
  ClampQ clamp = {0, 0};
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    visit(Float(Field::kBetaF), c.zero_a);
    visit(Float(Field::kAlphaF), c.ratio);
    visit(Float(Field::kScaleF), c.scale);
    visit(Float(Field::kOffsetF), c.shift);
    visit(Int(Field::kOffset, 0, 128), c.after);
    ClampFields(c.clamp, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

// kFloatZeroEven (ONNX Runtime): float(product) * scale + float(Zy), to even, Zy of an s8 tensor
// taken + 128 as in AddFma and subtracted afterwards, but with keeps_sign.
struct Mul {
  RSHIFT_COMMAND(kMul, "mul", kInteger,
                 "requantize((src - Z) * (src2 - Z)) + Zdst; flags 1: as add_fma's, under "
                 "kFloatZeroEven",
                 .in_place = true, .broadcasts_constant = true,
                 .element_ns = 0.1)  // [0.04, 0.46]

  RequantWords words;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool keeps_sign = false;
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    visit(Flags(1), c.keeps_sign);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

// All three tensors count in the same units.
struct Extremum {
  RSHIFT_COMMAND(kExtremum, "extremum", kInteger,
                 "clamp(max(src, src2)); flags 1: min; one element type", .in_place = true,
                 .broadcasts_constant = true,
                 .element_ns = 0.1)  // at most as add

  bool min = false;
  ClampQ clamp = {0, 0};
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    ClampFields(c.clamp, visit);
    visit(Flags(1), c.min);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

// A quotient, by the reciprocal of each divisor: quantize/numerics/divide.h.
struct Div {
  RSHIFT_COMMAND(kDiv, "div", kInteger,
                 "clamp(((src - Z) * table[src2 byte] >> 22, rounded) + Zdst); table: s32",
                 .in_place = true, .broadcasts_constant = true,
                 .element_ns = 1)  // one element at a time

  ClampQ clamp = {0, 0};
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    visit(Const(Field::kTable), c.table);
    ClampFields(c.clamp, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

// Any function of two bytes; a bool dst: entries 0 and 1.
struct BinaryTable {
  RSHIFT_COMMAND(kBinaryTable, "binary_table", kInteger,
                 "dst byte = table[256 * src byte + src2 byte]", .in_place = true,
                 .broadcasts_constant = true,
                 .element_ns = 1)  // the table is beyond the nearest cache

  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(View(In(Field::kSrc2)), c.src2);
    visit(Const(Field::kTable), c.table);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct BinaryF32 {
  RSHIFT_COMMAND(
      kBinaryF32, "binary_f32", kFloat,
      "mode: BinaryOp; numpy broadcasting; f32 (s64, s32, bool where the operator allows)",
      .in_place = true, .buffers = BufferForm::kNone,
      .element_ns = 2)  // [0.3, 3.1]; powers: work_cost.cc

  BinaryOp op = BinaryOp::kAdd;
  Clamp clamp;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Mode(kBinaryOpCount), c.op);
    ClampFields(c.clamp, visit);
  }
};

struct Where {
  RSHIFT_COMMAND(kWhere, "where", kFloat, "src ? src2 : src3, broadcasting",
                 .buffers = BufferForm::kNone, .element_ns = 2)  // [0.8, 3.0]

  Tensor dst = 0, src = 0, src2 = 0, src3 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(In(Field::kSrc3), c.src3);
  }
};

struct Cast {
  RSHIFT_COMMAND(kCast, "cast", kFloat, "element type by the tensors' types",
                 .buffers = BufferForm::kNone, .element_ns = 0.2)  // [0.11, 0.35]

  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) { DenseFields(c, visit); }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_ELTWISE_H_
