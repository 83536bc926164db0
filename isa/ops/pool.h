// Pooling.
#ifndef RSHIFT_ISA_OPS_POOL_H_
#define RSHIFT_ISA_OPS_POOL_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct AveragePool {
  static constexpr Opcode kOpcode = Opcode::kAveragePool;
  static constexpr const char* kName = "average_pool";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary =
      "NHWC; mode: PoolArithmetic, 0: clamp(round(scale / taps * sum + offset)); flags 1: "
      "count_include_pad";
  static constexpr OpTraits kTraits = {.leads_epilogue = true};

  Tensor dst = 0, src = 0;
  Window window;
  float scale = 0, offset = 0;
  bool count_include_pad = false;
  ClampQ clamp = {0, 0};
  PoolArithmetic arithmetic = PoolArithmetic::kScaleOffset;
  Rounding rounding = Rounding::kHalfUp;
  RequantWords words;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    WindowFields(c.window, visit);
    visit(Float(Field::kScaleF), c.scale);
    visit(Float(Field::kOffsetF), c.offset);
    visit(Flags(1), c.count_include_pad);
    ClampFields(c.clamp, visit);
    visit(Mode(kPoolArithmeticCount), c.arithmetic);
    RoundingField(c.rounding, visit);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
  }
};

struct MaxPool {
  static constexpr Opcode kOpcode = Opcode::kMaxPool;
  static constexpr const char* kName = "max_pool";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary = "NHWC maximum of s8, u8 or f32; pads never win";
  static constexpr OpTraits kTraits = {.leads_epilogue = true};

  Tensor dst = 0, src = 0;
  Window window;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    WindowFields(c.window, visit);
  }
};

struct AveragePoolF32 {
  static constexpr Opcode kOpcode = Opcode::kAveragePoolF32;
  static constexpr const char* kName = "average_pool_f32";
  static constexpr OpClass kClass = OpClass::kFloatLibrary;
  static constexpr const char* kSummary = "NHWC; flags 1: count_include_pad";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Window window;
  bool count_include_pad = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    WindowFields(c.window, visit);
    visit(Flags(1), c.count_include_pad);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_POOL_H_
