// Resize.
#ifndef RSHIFT_ISA_OPS_RESIZE_H_
#define RSHIFT_ISA_OPS_RESIZE_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct ResizeNearest {
  static constexpr Opcode kOpcode = Opcode::kResizeNearest;
  static constexpr const char* kName = "resize_nearest";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary =
      "list: the source index of every output index, dimension after dimension";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Tensor list = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Const(Field::kList), c.list);
  }
};

struct ResizeF32 {
  static constexpr Opcode kOpcode = Opcode::kResizeF32;
  static constexpr const char* kName = "resize_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary =
      "mode: ResizeMode, list: f32 scales, alpha: cubic coefficient, flags 1: exclude_outside";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Tensor list = 0;
  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinate = CoordinateMode::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  float cubic_a = 0;
  bool exclude_outside = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
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
