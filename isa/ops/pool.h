// Pooling.
#ifndef RSHIFT_ISA_OPS_POOL_H_
#define RSHIFT_ISA_OPS_POOL_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

// kScaleOffset: y = clamp(round(scale / n * sum + offset)) of n taps; scale = Sx / Sy,
// offset = Zy - Sx / Sy * Zx. Numbers that `arithmetic` does not read stay 0 (kPoolParameters).
struct AveragePool {
  RSHIFT_COMMAND(kAveragePool, "average_pool", kInteger,
                 "NHWC; mode: PoolArithmetic, 0: clamp(round(scale / taps * sum + offset)); flags "
                 "1: count_include_pad, 2: of s8 not + 128, under kDequantized",
                 .leads_epilogue = true, .taps = TapForm::kWindow, .buffers = BufferForm::kNone,
                 .element_ns = 0.5)  // each tap [0.1, 1.3]

  Window window;
  float scale = 0, offset = 0;
  bool count_include_pad = false;
  bool keeps_sign = false;  // kDequantized: as AddFma's
  ClampQ clamp = {0, 0};
  PoolArithmetic arithmetic = PoolArithmetic::kScaleOffset;
  Rounding rounding = Rounding::kHalfUp;
  RequantWords words;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    WindowFields(c.window, visit);
    visit(Float(Field::kScaleF), c.scale);
    visit(Float(Field::kOffsetF), c.offset);
    visit(Flags(2), c.count_include_pad, c.keeps_sign);
    ClampFields(c.clamp, visit);
    visit(Mode(kPoolArithmeticCount), c.arithmetic);
    RoundingField(c.rounding, visit);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
  }
};

struct MaxPool {
  RSHIFT_COMMAND(kMaxPool, "max_pool", kInteger,
                 "NHWC maximum of s8, u8, s16 or f32; pads never win", .leads_epilogue = true,
                 .taps = TapForm::kWindow, .buffers = BufferForm::kNone,
                 .element_ns = 0.1)  // each tap [0.04, 0.5]

  Window window;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    WindowFields(c.window, visit);
  }
};

struct AveragePoolF32 {
  RSHIFT_COMMAND(kAveragePoolF32, "average_pool_f32", kFloatLibrary,
                 "NHWC; flags 1: count_include_pad", .taps = TapForm::kWindow,
                 .buffers = BufferForm::kNone, .element_ns = 0.5)  // [0.2, 0.3]

  Window window;
  bool count_include_pad = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    WindowFields(c.window, visit);
    visit(Flags(1), c.count_include_pad);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_POOL_H_
