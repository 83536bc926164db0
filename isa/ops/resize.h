// Resize.
#ifndef RSHIFT_ISA_OPS_RESIZE_H_
#define RSHIFT_ISA_OPS_RESIZE_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct ResizeNearest {
  RSHIFT_COMMAND(kResizeNearest, "resize_nearest", kMove,
                 "list: the source index of every output index, dimension after dimension",
                 .buffers = BufferForm::kIndexMap, .element_ns = 1)  // [0.4, 1.5]

  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Const(Field::kList), c.list);
  }
};

// Linear and cubic interpolation of bytes: quantize/numerics/resize.h.
struct Resize {
  RSHIFT_COMMAND(kResize, "resize", kInteger,
                 "list: s32, for each dimension the taps of an output index (0: as it is), then "
                 "index and coefficient / 2^11 of each; multiplier 0: one type",
                 .taps = TapForm::kResize, .buffers = BufferForm::kIndexMap,
                 .element_ns = 0.3)  // each of 16 taps at most

  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kList), c.list);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFields(c.clamp, visit);
  }
};

// Linear interpolation as LiteRT computes it: numerics/tflite_resize.h.
struct ResizeLinear {
  RSHIFT_COMMAND(kResizeLinear, "resize_linear", kInteger,
                 "list: as that of resize, with two taps along at most two dimensions; "
                 "coefficient: by mode, a ResizeArithmetic; src and dst of one type",
                 .buffers = BufferForm::kIndexMap, .element_ns = 1)

  ResizeArithmetic arithmetic = ResizeArithmetic::kHalfAway;
  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kList), c.list);
    visit(Mode(kResizeArithmeticCount), c.arithmetic);
  }
};

struct ResizeF32 {
  RSHIFT_COMMAND(
      kResizeF32, "resize_f32", kFloat,
      "mode: ResizeMode, list: f32 scales, alpha: cubic coefficient, flags 1: exclude_outside",
      .taps = TapForm::kResize, .buffers = BufferForm::kIndexMap,
      .element_ns = 0.5)  // each tap [0.1, 0.6]

  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinate = CoordinateMode::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  float cubic_a = 0;
  bool exclude_outside = false;
  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kList), c.list);
    visit(Mode(kResizeModeCount), c.mode);
    visit(Choice(Field::kCoordinate, kCoordinateModeCount), c.coordinate);
    visit(Choice(Field::kNearest, kNearestModeCount), c.nearest);
    visit(Float(Field::kAlphaF), c.cubic_a);
    visit(Flags(1), c.exclude_outside);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_RESIZE_H_
