// Data movement: element types are equal, and every index a command will use lies inside its
// source.
#include <algorithm>

#include "base/checked.h"
#include "runtime/steps/lists.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {
namespace {

struct Move {
  const Shape& src;
  const Shape& dst;
  int64_t rank() const { return static_cast<int64_t>(src.size()); }
};

// Of equal element types.
Move AnyMove(const CommandCheck& check) {
  check.CheckSameType(Field::kSrc, Field::kDst);
  return {check.Tensor(Field::kSrc).shape, check.Tensor(Field::kDst).shape};
}

// And of equal ranks.
Move MoveInRank(const CommandCheck& check) {
  const Move move = AnyMove(check);
  check.Check(move.src.size() == move.dst.size(), check.Describe(Field::kSrc), " and ",
              check.Describe(Field::kDst), ": expected equal ranks");
  return move;
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::Transpose&) {
  const Move move = AnyMove(check);
  const std::vector<int64_t> perm = check.List(Field::kList, move.rank());
  std::vector<bool> seen(move.src.size());
  Shape expected;
  for (const int64_t axis : perm) {
    const bool fresh = axis >= 0 && axis < move.rank() && !seen[static_cast<size_t>(axis)];
    check.Check(fresh, check.Describe(Field::kList), ": ", axis,
                " is out of range or twice in a permutation");
    seen[static_cast<size_t>(axis)] = true;
    expected.push_back(move.src[static_cast<size_t>(axis)]);
  }
  check.CheckShape(Field::kDst, expected);
}

void CheckCommand(const CommandCheck& check, const isa::CopyInto& c) {
  const Move move = MoveInRank(check);
  if (move.src.empty()) return;
  const size_t axis = check.Axis(c.axis);
  Shape expected = move.src;
  expected[axis] = move.dst[axis];
  check.CheckShape(Field::kDst, expected);
  check.Check(c.offset <= move.dst[axis] && move.src[axis] <= move.dst[axis] - c.offset, "rows ",
              c.offset, " to ", c.offset, " + ", move.src[axis], " on axis ", axis, " leave ",
              check.Describe(Field::kDst));
  // Rows apart are copied row by row, with one distance only.
  const bool dense = check.Tensor(Field::kSrc).pitch == 0 && check.Tensor(Field::kDst).pitch == 0;
  const bool one = NumElements(Shape(move.src.begin(), move.src.begin() + axis)) == 1;
  check.Check(dense || one || axis + 1 == move.src.size(), "axis is ", axis,
              ", expected the last one of tensors with a pitch, or nothing but ones before it");
}

void CheckCommand(const CommandCheck& check, const isa::Slice&) {
  const Move move = MoveInRank(check);
  const std::vector<int64_t> starts = check.List(Field::kList, move.rank());
  const std::vector<int64_t> steps = check.List(Field::kList2, move.rank());
  for (size_t d = 0; d < move.src.size(); ++d) {
    if (move.dst[d] == 0) continue;
    const auto distance = CheckedMul<int64_t>(move.dst[d] - 1, steps[d]);
    const auto last = distance ? CheckedAdd<int64_t>(starts[d], *distance) : std::nullopt;
    const bool inside =
        starts[d] >= 0 && starts[d] < move.src[d] && last && *last >= 0 && *last < move.src[d];
    check.Check(inside && steps[d] != 0, "dimension ", d, ": ", move.dst[d], " elements from ",
                starts[d], " in steps of ", steps[d], " leave ", check.Describe(Field::kSrc));
  }
}

void CheckCommand(const CommandCheck& check, const isa::Pad& c) {
  const Move move = MoveInRank(check);
  const std::vector<int64_t> before = check.List(Field::kList, move.rank());
  const std::vector<int64_t> after = check.List(Field::kList2, move.rank());
  constexpr int64_t kMax = int64_t{1} << 40;
  for (size_t d = 0; d < move.src.size(); ++d) {
    const bool sane = before[d] >= 0 && after[d] >= 0 && before[d] < kMax && after[d] < kMax;
    check.Check(sane && move.dst[d] == move.src[d] + before[d] + after[d], "dimension ", d, ": ",
                move.src[d], " with pads ", before[d], " and ", after[d], " is not ", move.dst[d]);
    const int64_t largest = std::max(before[d], after[d]);
    check.Check(c.mode != PadMode::kReflect || largest == 0 || largest < move.src[d], "dimension ",
                d, ": a reflecting pad of ", largest, " is not less than the size ", move.src[d]);
    check.Check(c.mode != PadMode::kEdge || largest == 0 || move.src[d] > 0, "dimension ", d,
                ": an edge pad of an empty dimension");
  }
}

void CheckCommand(const CommandCheck& check, const isa::Expand&) {
  const Move move = AnyMove(check);
  bool ok = move.dst.size() >= move.src.size();
  for (size_t d = 0; ok && d < move.src.size(); ++d) {
    const int64_t target = move.dst[move.dst.size() - move.src.size() + d];
    ok = move.src[d] == 1 || move.src[d] == target;
  }
  check.Check(ok, check.Describe(Field::kSrc), " cannot be broadcast to ",
              check.Describe(Field::kDst));
}

void CheckCommand(const CommandCheck& check, const isa::Tile&) {
  const Move move = MoveInRank(check);
  const std::vector<int64_t> repeats = check.List(Field::kList, move.rank());
  for (size_t d = 0; d < move.src.size(); ++d) {
    const auto product = CheckedMul<int64_t>(move.src[d], repeats[d]);
    check.Check(repeats[d] >= 0 && product && *product == move.dst[d], "dimension ", d, ": ",
                move.src[d], " repeated ", repeats[d], " times is not ", move.dst[d]);
  }
}

void CheckCommand(const CommandCheck& check, const isa::Gather& c) {
  const Move move = AnyMove(check);
  check.CheckType(Field::kSrc2, {DType::kS64, DType::kS32});
  const TensorRecord& indices = check.Tensor(Field::kSrc2);
  const auto axis = static_cast<int64_t>(check.Axis(c.axis));
  Shape expected(move.src.begin(), move.src.begin() + axis);
  expected.insert(expected.end(), indices.shape.begin(), indices.shape.end());
  expected.insert(expected.end(), move.src.begin() + axis + 1, move.src.end());
  check.CheckShape(Field::kDst, expected);
  if (indices.region != Region::kConst) return;  // the step gives zeros for an index outside
  const int64_t size = move.src[static_cast<size_t>(axis)];
  for (const int64_t index : ReadList(check.Data(Field::kSrc2), indices)) {
    check.Check(index >= -size && index < size, check.Describe(Field::kSrc2), ": index ", index,
                " is outside an axis of ", size);
  }
}

void CheckCommand(const CommandCheck& check, const isa::ResizeNearest&) {
  const Move move = MoveInRank(check);
  int64_t total = 0;
  for (const int64_t dim : move.dst) total += dim;
  const std::vector<int64_t> list = check.List(Field::kList, total);
  size_t next = 0;
  for (size_t d = 0; d < move.dst.size(); ++d) {
    for (int64_t i = 0; i < move.dst[d]; ++i, ++next) {
      check.Check(list[next] >= 0 && list[next] < move.src[d], check.Describe(Field::kList),
                  ": index ", list[next], " is outside dimension ", d, " of ", move.src[d]);
    }
  }
}

}  // namespace rshift::verify
