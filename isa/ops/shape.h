// Data movement.
#ifndef RSHIFT_ISA_OPS_SHAPE_H_
#define RSHIFT_ISA_OPS_SHAPE_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct Transpose {
  static constexpr Opcode kOpcode = Opcode::kTranspose;
  static constexpr const char* kName = "transpose";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary =
      "dst dimension i is src dimension list[i]; any element type";
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

struct CopyInto {
  static constexpr Opcode kOpcode = Opcode::kCopyInto;
  static constexpr const char* kName = "copy_into";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary =
      "src becomes dst[offset, offset + src's size) on axis: one part of a Concat, or a copy";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  int64_t axis = 0, offset = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Int(Field::kOffset, 0, kMaxDim), c.offset);
  }
};

struct Slice {
  static constexpr Opcode kOpcode = Opcode::kSlice;
  static constexpr const char* kName = "slice";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary =
      "dst index i reads src index list[d] + i * list2[d] in each dimension d";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Tensor list = 0, list2 = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Const(Field::kList), c.list);
    visit(Const(Field::kList2), c.list2);
  }
};

struct Pad {
  static constexpr Opcode kOpcode = Opcode::kPad;
  static constexpr const char* kName = "pad";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary =
      "list before and list2 after, both >= 0; mode 0 constant, 1 reflect, 2 edge; fill: bits of "
      "one element";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Tensor list = 0, list2 = 0;
  PadMode mode = PadMode::kConstant;
  int64_t fill = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(View(Out(Field::kDst)), c.dst);
    visit(View(In(Field::kSrc)), c.src);
    visit(Const(Field::kList), c.list);
    visit(Const(Field::kList2), c.list2);
    visit(Mode(kPadModeCount), c.mode);
    visit(
        Int(Field::kFill, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
        c.fill);
  }
};

struct Expand {
  static constexpr Opcode kOpcode = Opcode::kExpand;
  static constexpr const char* kName = "expand";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary = "broadcast to dst's shape";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
  }
};

struct Tile {
  static constexpr Opcode kOpcode = Opcode::kTile;
  static constexpr const char* kName = "tile";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary = "repeat list[d] times in each dimension d";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Tensor list = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Const(Field::kList), c.list);
  }
};

struct Gather {
  static constexpr Opcode kOpcode = Opcode::kGather;
  static constexpr const char* kName = "gather";
  static constexpr OpClass kClass = OpClass::kMove;
  static constexpr const char* kSummary =
      "slices of src on axis by indices src2 (s32/s64, negative from the end)";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0, src2 = 0;
  int64_t axis = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(In(Field::kSrc2), c.src2);
    visit(Int(Field::kAxis, 0, 7), c.axis);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_SHAPE_H_
