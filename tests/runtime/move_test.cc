// Data movement against index arithmetic, for element sizes 1, 2, 4 and 8.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using Index = std::vector<int64_t>;
constexpr DType kTypes[] = {DType::kU8, DType::kF16, DType::kF32, DType::kS64};

Shape RandomShape(Random& random, int64_t rank, int64_t largest) {
  Shape shape;
  for (int64_t d = 0; d < rank; ++d) shape.push_back(random.Int(1, largest));
  return shape;
}

DType RandomType(Random& random) { return kTypes[random.Int(0, 3)]; }

Index At(const Shape& shape, int64_t position) {
  Index index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return index;
}

int64_t Position(const Shape& shape, const Index& index) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
  return position;
}

// dst[i] = src[source(i)], or `fill` where source gives an empty optional.
using Source = std::function<std::optional<Index>(const Index&)>;
Bytes Expected(const Bytes& src, const Shape& src_shape, const Shape& dst_shape, int64_t element,
               const Source& source, int64_t fill = 0) {
  Bytes dst;
  for (int64_t i = 0; i < NumElements(dst_shape); ++i) {
    const std::optional<Index> from = source(At(dst_shape, i));
    for (int64_t byte = 0; byte < element; ++byte) {
      dst.push_back(from ? src[Position(src_shape, *from) * element + byte]
                         : static_cast<uint8_t>(static_cast<uint64_t>(fill) >> (8 * byte)));
    }
  }
  return dst;
}

struct MoveCase {
  DType type;
  Shape src, dst;
  Bytes data;
  int64_t element() const { return static_cast<int64_t>(SizeOf(type)); }
};

MoveCase MakeCase(Random& random, DType type, const Shape& src, const Shape& dst) {
  return {type, src, dst, random.Data(NumElements(src) * static_cast<int64_t>(SizeOf(type)))};
}

Command& AddMove(ProgramBuilder* b, Opcode opcode, const MoveCase& c) {
  const int32_t src = b->Input({c.type, c.src}), dst = b->Output({c.type, c.dst});
  return b->Add(opcode, dst, src);
}

TEST(TransposeStep, PermutesDimensionsOfAnyRankAndElement) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t rank = random.Int(1, 8);
    const Shape src = RandomShape(random, rank, rank <= 3 ? 70 : rank <= 5 ? 9 : 4);
    if (NumElements(src) > 100000) continue;
    Index perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random.engine);
    Shape dst;
    for (const int64_t axis : perm) dst.push_back(src[static_cast<size_t>(axis)]);
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kTranspose, c).Set(Field::kList, b.List(perm));
    ASSERT_EQ(RunEverywhere(b, {c.data}),
              Expected(c.data, src, dst, c.element(), [&](const Index& i) {
                Index from(i.size());
                for (size_t d = 0; d < i.size(); ++d) from[static_cast<size_t>(perm[d])] = i[d];
                return from;
              }));
  }
}

TEST(TransposeStep, MovesBetweenNchwAndNhwcOfARealImage) {
  Random random(1);
  const MoveCase c = MakeCase(random, DType::kF32, {1, 3, 65, 67}, {1, 65, 67, 3});
  ProgramBuilder b;
  AddMove(&b, Opcode::kTranspose, c).Set(Field::kList, b.List({0, 2, 3, 1}));
  EXPECT_EQ(RunEverywhere(b, {c.data}), Expected(c.data, c.src, c.dst, 4, [](const Index& i) {
              return Index{i[0], i[3], i[1], i[2]};
            }));
}

TEST(SliceStep, StartsAndStepsBothWays) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = RandomShape(random, random.Int(1, 4), 12);
    Shape dst;
    Index starts, steps;
    for (const int64_t dim : src) {
      const int64_t step = random.Int(1, 3) * (random.Int(0, 2) == 0 ? -1 : 1),
                    start = random.Int(0, dim - 1);
      const int64_t room = step > 0 ? (dim - 1 - start) / step : start / -step;
      starts.push_back(start);
      steps.push_back(step);
      dst.push_back(random.Int(0, 9) == 0 ? 0 : random.Int(1, room + 1));
    }
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kSlice, c)
        .Set(Field::kList, b.List(starts))
        .Set(Field::kList2, b.List(steps));
    ASSERT_EQ(RunEverywhere(b, {c.data}),
              Expected(c.data, src, dst, c.element(), [&](const Index& i) {
                Index from;
                for (size_t d = 0; d < i.size(); ++d) from.push_back(starts[d] + i[d] * steps[d]);
                return from;
              }));
  }
}

TEST(CopyIntoStep, BuildsAConcatOnAnyAxis) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape base = RandomShape(random, random.Int(1, 4), 9);
    const auto axis = static_cast<size_t>(random.Int(0, static_cast<int64_t>(base.size()) - 1));
    const DType type = RandomType(random);
    const auto element = static_cast<int64_t>(SizeOf(type));
    ProgramBuilder b;
    Shape dst_shape = base;
    dst_shape[axis] = 0;
    std::vector<MoveCase> parts;
    for (int64_t count = random.Int(1, 4); count > 0; --count) {
      Shape shape = base;
      shape[axis] = random.Int(1, 9);
      dst_shape[axis] += shape[axis];
      parts.push_back(MakeCase(random, type, shape, shape));
    }
    const int32_t dst = b.Output({type, dst_shape});
    std::vector<Bytes> inputs;
    int64_t offset = 0;
    Bytes expected(static_cast<size_t>(NumElements(dst_shape) * element));
    for (const MoveCase& part : parts) {
      const int32_t src = b.Input({type, part.src});
      b.Add(Opcode::kCopyInto, dst, src)
          .Set(Field::kAxis, static_cast<int64_t>(axis))
          .Set(Field::kOffset, offset);
      for (int64_t i = 0; i < NumElements(part.src); ++i) {
        Index to = At(part.src, i);
        to[axis] += offset;
        std::memcpy(expected.data() + Position(dst_shape, to) * element,
                    part.data.data() + i * element, static_cast<size_t>(element));
      }
      offset += part.src[axis];
      inputs.push_back(part.data);
    }
    ASSERT_EQ(RunEverywhere(b, inputs), expected);
  }
}

std::optional<int64_t> PadIndex(int64_t i, int64_t size, int64_t mode) {
  if (i >= 0 && i < size) return i;
  if (mode == 0) return std::nullopt;
  if (mode == 2) return i < 0 ? 0 : size - 1;
  return i < 0 ? -i : 2 * size - 2 - i;
}

TEST(PadStep, FillsReflectsAndRepeatsTheEdge) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = RandomShape(random, random.Int(1, 4), 8);
    const int64_t mode = random.Int(0, 2);
    Shape dst;
    Index before, after;
    for (const int64_t dim : src) {
      const int64_t most = mode == 1 ? std::min<int64_t>(3, dim - 1) : 3;
      before.push_back(random.Int(0, 1) * random.Int(0, most));
      after.push_back(random.Int(0, 1) * random.Int(0, most));
      dst.push_back(dim + before.back() + after.back());
    }
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    const int64_t fill = static_cast<int64_t>(random.engine()) * 0x1000193;
    ProgramBuilder b;
    AddMove(&b, Opcode::kPad, c)
        .Set(Field::kList, b.List(before))
        .Set(Field::kList2, b.List(after));
    b.image.commands[0].Set(Field::kMode, mode).Set(Field::kFill, fill);
    const Source source = [&](const Index& i) -> std::optional<Index> {
      Index from;
      for (size_t d = 0; d < i.size(); ++d) {
        const std::optional<int64_t> at = PadIndex(i[d] - before[d], src[d], mode);
        if (!at) return std::nullopt;
        from.push_back(*at);
      }
      return from;
    };
    ASSERT_EQ(RunEverywhere(b, {c.data}), Expected(c.data, src, dst, c.element(), source, fill));
  }
}

TEST(ExpandStep, BroadcastsOnesAndMissingDimensions) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape dst = RandomShape(random, random.Int(1, 5), 7);
    Shape src(dst.begin() + random.Int(0, static_cast<int64_t>(dst.size())), dst.end());
    for (int64_t& dim : src) dim = random.Int(0, 1) == 0 ? 1 : dim;
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kExpand, c);
    ASSERT_EQ(RunEverywhere(b, {c.data}),
              Expected(c.data, src, dst, c.element(), [&](const Index& i) {
                Index from(i.end() - static_cast<int64_t>(src.size()), i.end());
                for (size_t d = 0; d < src.size(); ++d) from[d] = src[d] == 1 ? 0 : from[d];
                return from;
              }));
  }
}

TEST(TileStep, RepeatsEachDimension) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = RandomShape(random, random.Int(1, 4), 6);
    Shape dst;
    Index repeats;
    for (const int64_t dim : src) {
      repeats.push_back(random.Int(1, 3));
      dst.push_back(dim * repeats.back());
    }
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kTile, c).Set(Field::kList, b.List(repeats));
    ASSERT_EQ(RunEverywhere(b, {c.data}),
              Expected(c.data, src, dst, c.element(), [&](const Index& i) {
                Index from;
                for (size_t d = 0; d < i.size(); ++d) from.push_back(i[d] % src[d]);
                return from;
              }));
  }
}

TEST(GatherStep, CountsNegativeIndicesFromTheEndAndGivesZerosOutside) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = RandomShape(random, random.Int(1, 4), 6);
    const auto axis = static_cast<size_t>(random.Int(0, static_cast<int64_t>(src.size()) - 1));
    const Shape index_shape = RandomShape(random, random.Int(0, 2), 4);
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < NumElements(index_shape); ++i) {
      indices.push_back(random.Int(0, 19) == 0 ? random.Int(INT64_MIN, INT64_MAX)
                                               : random.Int(-src[axis] - 1, src[axis]));
    }
    Shape dst(src.begin(), src.begin() + static_cast<int64_t>(axis));
    dst.insert(dst.end(), index_shape.begin(), index_shape.end());
    dst.insert(dst.end(), src.begin() + static_cast<int64_t>(axis) + 1, src.end());
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kGather, c).Set(Field::kAxis, static_cast<int64_t>(axis));
    const int32_t src2 = b.Input({DType::kS64, index_shape});
    b.image.commands[0].Set(Field::kSrc2, src2);
    const Source source = [&](const Index& i) -> std::optional<Index> {
      const auto split = i.begin() + static_cast<int64_t>(axis);
      const auto rest = split + static_cast<int64_t>(index_shape.size());
      int64_t at = indices[static_cast<size_t>(Position(index_shape, Index(split, rest)))];
      if (at < 0) at += src[axis];
      if (at < 0 || at >= src[axis]) return std::nullopt;
      Index from(i.begin(), split);
      from.push_back(at);
      from.insert(from.end(), rest, i.end());
      return from;
    };
    ASSERT_EQ(RunEverywhere(b, {c.data, AsBytes(indices)}),
              Expected(c.data, src, dst, c.element(), source));
  }
}

TEST(ResizeNearestStep, ReadsTheListedIndices) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = RandomShape(random, random.Int(1, 4), 7);
    Shape dst;
    Index list;
    std::vector<Index> maps;
    for (const int64_t dim : src) {
      const bool same = random.Int(0, 1) == 0;
      dst.push_back(same ? dim : random.Int(1, 12));
      maps.emplace_back();
      for (int64_t i = 0; i < dst.back(); ++i)
        maps.back().push_back(same ? i : random.Int(0, dim - 1));
      list.insert(list.end(), maps.back().begin(), maps.back().end());
    }
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kResizeNearest, c).Set(Field::kList, b.List(list));
    ASSERT_EQ(RunEverywhere(b, {c.data}),
              Expected(c.data, src, dst, c.element(), [&](const Index& i) {
                Index from;
                for (size_t d = 0; d < i.size(); ++d)
                  from.push_back(maps[d][static_cast<size_t>(i[d])]);
                return from;
              }));
  }
}

TEST(ResizeNearestStep, RepeatsEveryIndexEquallyOften) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = RandomShape(random, random.Int(1, 4), 20);
    Shape dst;
    Index list, times;
    for (const int64_t dim : src) {
      times.push_back(random.Int(1, 3));
      dst.push_back(times.back() * dim);
      for (int64_t i = 0; i < dst.back(); ++i) list.push_back(i / times.back());
    }
    const MoveCase c = MakeCase(random, RandomType(random), src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kResizeNearest, c).Set(Field::kList, b.List(list));
    ASSERT_EQ(RunEverywhere(b, {c.data}),
              Expected(c.data, src, dst, c.element(), [&](const Index& i) {
                Index from;
                for (size_t d = 0; d < i.size(); ++d) from.push_back(i[d] / times[d]);
                return from;
              }));
  }
}

// Rows of any number of registers and what is left of one.
TEST(ResizeNearestStep, WordsOfARowTwice) {
  for (int64_t width = 1; width <= 70; ++width) {
    SCOPED_TRACE(width);
    Random random(static_cast<uint32_t>(width));
    const int64_t times = random.Int(1, 3);
    const Shape src = {2, 3, width}, dst = {2, 3 * times, 2 * width};
    Index list = {0, 1};
    for (int64_t i = 0; i < dst[1]; ++i) list.push_back(i / times);
    for (int64_t i = 0; i < dst[2]; ++i) list.push_back(i / 2);
    const MoveCase c = MakeCase(random, DType::kF32, src, dst);
    ProgramBuilder b;
    AddMove(&b, Opcode::kResizeNearest, c).Set(Field::kList, b.List(list));
    ASSERT_EQ(RunEverywhere(b, {c.data}),
              Expected(c.data, src, dst, c.element(), [&](const Index& i) {
                return Index{i[0], i[1] / times, i[2] / 2};
              }));
  }
}

}  // namespace
}  // namespace rshift::testing
