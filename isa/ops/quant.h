// Quantize, Dequantize, Requantize.
#ifndef RSHIFT_ISA_OPS_QUANT_H_
#define RSHIFT_ISA_OPS_QUANT_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct Quantize {
  RSHIFT_COMMAND(kQuantize, "quantize", kInteger,
                 "f32 to s8/u8/s16 by dst's scale and zero point; mode: RealRounding; flags 1: "
                 "times 1 / scale",
                 .buffers = BufferForm::kNone, .element_ns = 0.1)  // [0.07, 0.18]

  RealRounding rounding = RealRounding::kEven;
  bool by_reciprocal = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Mode(kRealRoundingCount), c.rounding);
    visit(Flags(1), c.by_reciprocal);
  }
};

struct Dequantize {
  RSHIFT_COMMAND(kDequantize, "dequantize", kInteger,
                 "s8/u8/s16 to f32 by src's scale and zero point", .buffers = BufferForm::kNone,
                 .element_ns = 0.1)  // [0.03, 0.12]

  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) { ViewFields(c, visit); }
};

struct Requantize {
  RSHIFT_COMMAND(kRequantize, "requantize", kInteger,
                 "s8/u8 to s8/u8: clamp(((src - Zsrc) * multiplier >> rshift) + Zdst); multiplier "
                 "0 is factor 1",
                 .in_place = true, .buffers = BufferForm::kTable, .element_ns = 0.1)  // [0.01, 0.1]

  RequantWords words;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool fuse_with_previous = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

struct FakeQuantizeF32 {
  RSHIFT_COMMAND(kFakeQuantizeF32, "fake_quantize_f32", kFloat,
                 "`count` levels; src2: f32 [C,4] or [1,4], input low and high, output low and "
                 "high of each index along the axis",
                 .in_place = true, .buffers = BufferForm::kNone, .element_ns = 5)

  int64_t levels = 2, axis = 0;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Int(Field::kCount, 2, 65536), c.levels);
    visit(Int(Field::kAxis, 0, 7), c.axis);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_QUANT_H_
