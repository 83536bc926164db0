// Quantize, Dequantize, Requantize.
#ifndef RSHIFT_ISA_OPS_QUANT_H_
#define RSHIFT_ISA_OPS_QUANT_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct Quantize {
  static constexpr Opcode kOpcode = Opcode::kQuantize;
  static constexpr const char* kName = "quantize";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary =
      "f32 to s8/u8 by dst's scale and zero point; mode: RealRounding; flags 1: times 1 / scale";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  RealRounding rounding = RealRounding::kEven;
  bool by_reciprocal = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Mode(kRealRoundingCount), c.rounding);
    visit(Flags(1), c.by_reciprocal);
  }
};

struct Dequantize {
  static constexpr Opcode kOpcode = Opcode::kDequantize;
  static constexpr const char* kName = "dequantize";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary = "s8/u8 to f32 by src's scale and zero point";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
  }
};

struct Requantize {
  static constexpr Opcode kOpcode = Opcode::kRequantize;
  static constexpr const char* kName = "requantize";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary =
      "s8/u8 to s8/u8: clamp(((src - Zsrc) * multiplier >> rshift) + Zdst); multiplier 0 is factor "
      "1";
  static constexpr OpTraits kTraits = {.in_place = true};

  Tensor dst = 0, src = 0;
  RequantWords words;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  bool fuse_with_previous = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFields(c.clamp, visit);
    RoundingField(c.rounding, visit);
    FuseWithPreviousField(c.fuse_with_previous, visit);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_QUANT_H_
