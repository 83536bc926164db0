// Data movement.
#ifndef RSHIFT_ISA_OPS_SHAPE_H_
#define RSHIFT_ISA_OPS_SHAPE_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct Transpose {
  RSHIFT_COMMAND(kTranspose, "transpose", kMove,
                 "dst dimension i is src dimension list[i]; any element type",
                 .buffers = BufferForm::kRowPlan, .element_ns = 0.5)  // [0.14, 1.0]

  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Const(Field::kList), c.list);
  }
};

struct CopyInto {
  RSHIFT_COMMAND(
      kCopyInto, "copy_into", kMove,
      "src becomes dst[offset, offset + src's size) on axis: one part of a Concat, or a copy",
      .buffers = BufferForm::kNone, .element_ns = 0.1)  // [0.03, 0.2]

  int64_t axis = 0, offset = 0;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Int(Field::kOffset, 0, kMaxDim), c.offset);
  }
};

struct Slice {
  RSHIFT_COMMAND(kSlice, "slice", kMove,
                 "dst index i reads src index list[d] + i * list2[d] in each dimension d",
                 .buffers = BufferForm::kRowPlan, .element_ns = 0.2)  // [0.01, 0.3]

  Tensor dst = 0, src = 0;
  Tensor list = 0, list2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Const(Field::kList), c.list);
    visit(Const(Field::kList2), c.list2);
  }
};

struct Pad {
  RSHIFT_COMMAND(kPad, "pad", kMove,
                 "list before and list2 after, both >= 0; mode 0 constant, 1 reflect, 2 edge; "
                 "fill: bits of one element",
                 .buffers = BufferForm::kIndexMap, .element_ns = 1)  // [0.25, 1.4]

  PadMode mode = PadMode::kConstant;
  int64_t fill = 0;
  Tensor dst = 0, src = 0;
  Tensor list = 0, list2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    ViewFields(c, visit);
    visit(Const(Field::kList), c.list);
    visit(Const(Field::kList2), c.list2);
    visit(Mode(kPadModeCount), c.mode);
    visit(
        Int(Field::kFill, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
        c.fill);
  }
};

struct Expand {
  RSHIFT_COMMAND(kExpand, "expand", kMove, "broadcast to dst's shape",
                 .buffers = BufferForm::kRowPlan, .element_ns = 0.1)  // [0.04, 0.2]

  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) { DenseFields(c, visit); }
};

struct Tile {
  RSHIFT_COMMAND(kTile, "tile", kMove, "repeat list[d] times in each dimension d",
                 .buffers = BufferForm::kRowPlan, .element_ns = 0.1)  // [0.04, 0.2]

  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kList), c.list);
  }
};

struct Gather {
  RSHIFT_COMMAND(kGather, "gather", kMove,
                 "slices of src on axis by indices src2 (s32/s64, negative from the end)",
                 .buffers = BufferForm::kIndices, .element_ns = 2)  // [0.02, 2.2]

  int64_t axis = 0;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Int(Field::kAxis, 0, 7), c.axis);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_SHAPE_H_
