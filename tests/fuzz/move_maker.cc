// Random commands that move data.
#include <algorithm>

#include "tests/fuzz/program_maker.h"

namespace rshift::testing {
namespace {

DType AnyType(Maker& m) {
  constexpr DType kTypes[] = {DType::kS8,  DType::kU8,  DType::kF32, DType::kS64,
                              DType::kS32, DType::kF16, DType::kBool};
  return kTypes[m.random.Int(0, 6)];
}

void MakeTranspose(Maker& m, DType type) {
  const Shape src = m.Dims(0, 6);
  std::vector<int64_t> perm(src.size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::shuffle(perm.begin(), perm.end(), m.random.engine);
  Shape dst;
  for (const int64_t axis : perm) dst.push_back(src[static_cast<size_t>(axis)]);
  const int32_t from = m.Src({type, src});
  m.b.Add(Opcode::kTranspose, m.Dst({type, dst}), from).Set(Field::kList, m.b.List(perm));
}

void MakeCopyInto(Maker& m, DType type) {
  Shape first = m.Dims(1, 5), second = first, whole = first;
  const auto axis = static_cast<size_t>(m.random.Int(0, static_cast<int64_t>(first.size()) - 1));
  second[axis] = m.Dim();
  whole[axis] += second[axis];
  const int32_t a = m.Src({type, first}), b = m.Src({type, second}), dst = m.Dst({type, whole});
  m.b.Add(Opcode::kCopyInto, dst, a).Set(Field::kAxis, static_cast<int64_t>(axis));
  m.b.Add(Opcode::kCopyInto, dst, b)
      .Set(Field::kAxis, static_cast<int64_t>(axis))
      .Set(Field::kOffset, first[axis]);
}

void MakeSlice(Maker& m, DType type) {
  const Shape src = m.Dims(0, 6);
  Shape dst;
  std::vector<int64_t> starts, steps;
  for (const int64_t dim : src) {
    const int64_t step = m.Chance(3) ? m.random.Int(-3, 3) : 1;
    const int64_t start = dim == 0 ? 0 : m.random.Int(0, dim - 1);
    const int64_t room = step == 0 || dim == 0 ? 0
                         : step > 0            ? (dim - 1 - start) / step + 1
                                               : start / -step + 1;
    dst.push_back(room == 0 ? 0 : m.random.Int(m.Chance(20) ? 0 : 1, room));
    starts.push_back(start), steps.push_back(step);
    // Of one element or none, the step is of no matter.
    if (dst.back() == 1 && m.Chance(8))
      steps.back() = m.random.Int(0, 1) == 0 ? INT64_MAX : INT64_MIN;
  }
  const int32_t from = m.Src({type, src});
  m.b.Add(Opcode::kSlice, m.Dst({type, dst}), from)
      .Set(Field::kList, m.b.List(starts))
      .Set(Field::kList2, m.b.List(steps));
}

void MakePad(Maker& m, DType type) {
  const Shape src = m.Dims(0, 5);
  const int64_t mode = m.random.Int(0, 2);
  Shape dst = src;
  std::vector<int64_t> before, after;
  for (int64_t& dim : dst) {
    const int64_t most = mode == 1 ? std::min<int64_t>(dim - 1, 3) : dim == 0 && mode == 2 ? 0 : 3;
    before.push_back(m.random.Int(0, std::max<int64_t>(most, 0)));
    after.push_back(m.random.Int(0, std::max<int64_t>(most, 0)));
    dim += before.back() + after.back();
  }
  const int32_t from = m.Src({type, src});
  m.b.Add(Opcode::kPad, m.Dst({type, dst}), from)
      .Set(Field::kList, m.b.List(before))
      .Set(Field::kList2, m.b.List(after))
      .Set(Field::kMode, mode)
      .Set(Field::kFill, m.random.Int(INT64_MIN, INT64_MAX));
}

void MakeExpand(Maker& m, DType type) {
  const Shape dst = m.Dims(0, 5);
  const auto lead = m.random.Int(0, static_cast<int64_t>(dst.size()));
  Shape src(dst.begin() + lead, dst.end());
  for (int64_t& dim : src) dim = m.Chance(2) ? 1 : dim;
  const int32_t from = m.Src({type, src});
  m.b.Add(Opcode::kExpand, m.Dst({type, dst}), from);
}

void MakeTile(Maker& m, DType type) {
  Shape src = m.Dims(0, 5), dst = src;
  std::vector<int64_t> repeats;
  for (int64_t& dim : dst) {
    repeats.push_back(m.Chance(20) ? 0 : m.random.Int(1, 3));
    dim *= repeats.back();
    if (dim == 0 && m.Chance(2)) repeats.back() = repeats.back() == 0 ? 0 : INT64_MAX;
  }
  const int32_t from = m.Src({type, src});
  m.b.Add(Opcode::kTile, m.Dst({type, dst}), from).Set(Field::kList, m.b.List(repeats));
}

void MakeGather(Maker& m, DType type) {
  const Shape src = m.Dims(1, 4), indices = m.Dims(0, 2);
  const auto axis = m.random.Int(0, static_cast<int64_t>(src.size()) - 1);
  Shape dst(src.begin(), src.begin() + axis);
  dst.insert(dst.end(), indices.begin(), indices.end());
  dst.insert(dst.end(), src.begin() + axis + 1, src.end());
  const int64_t size = src[static_cast<size_t>(axis)], count = NumElements(indices);
  int32_t list = 0;
  if (m.Chance(2)) {  // at run time: any index, also one outside
    list = m.Src({m.Chance(2) ? DType::kS32 : DType::kS64, indices});
  } else {
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (int64_t& value : values) value = size == 0 ? 0 : m.random.Int(-size, size - 1);
    list = m.b.Const(DType::kS64, indices, values);
  }
  const int32_t from = m.Src({type, src});
  m.b.Add(Opcode::kGather, m.Dst({type, dst}), from)
      .Set(Field::kSrc2, list)
      .Set(Field::kAxis, axis);
}

void MakeResizeNearest(Maker& m, DType type) {
  const Shape src = m.Dims(1, 4);
  Shape dst = src;
  std::vector<int64_t> list;
  for (size_t d = 0; d < dst.size(); ++d) {
    if (m.Chance(2)) dst[d] = src[d] == 0 ? 0 : m.Dim();
    for (int64_t i = 0; i < dst[d]; ++i) {
      list.push_back(m.Chance(3) ? m.random.Int(0, src[d] - 1) : i * src[d] / dst[d]);
    }
  }
  const int32_t from = m.Src({type, src});
  m.b.Add(Opcode::kResizeNearest, m.Dst({type, dst}), from).Set(Field::kList, m.b.List(list));
}

}  // namespace

bool MakeMoveCommand(Opcode opcode, Maker& m) {
  const DType type = AnyType(m);
  switch (opcode) {
    case Opcode::kTranspose:
      return MakeTranspose(m, type), true;
    case Opcode::kCopyInto:
      return MakeCopyInto(m, type), true;
    case Opcode::kSlice:
      return MakeSlice(m, type), true;
    case Opcode::kPad:
      return MakePad(m, type), true;
    case Opcode::kExpand:
      return MakeExpand(m, type), true;
    case Opcode::kTile:
      return MakeTile(m, type), true;
    case Opcode::kGather:
      return MakeGather(m, type), true;
    case Opcode::kResizeNearest:
      return MakeResizeNearest(m, type), true;
    default:
      return false;
  }
}

}  // namespace rshift::testing
