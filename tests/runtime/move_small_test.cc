// Movement of small elements and short runs in tensors of many blocks, where rows are cut into
// parts, against index arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

// A view: dst dimensions, and the distance in elements of src from one index to the next.
struct View {
  Shape shape;
  std::vector<int64_t> strides;
  int64_t first = 0;
};

Bytes Through(const View& view, const Bytes& src, int64_t element) {
  Bytes dst;
  std::vector<int64_t> index(view.shape.size());
  for (int64_t i = 0; i < NumElements(view.shape); ++i) {
    int64_t at = view.first;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.strides[d];
    dst.insert(dst.end(), src.begin() + at * element, src.begin() + (at + 1) * element);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == view.shape[d];) index[d] = 0;
  }
  return dst;
}

// The size of a dimension: most are small, one is long.
Shape SmallAndLong(Random& random, int64_t rank) {
  Shape shape;
  for (int64_t d = 0; d < rank; ++d) shape.push_back(random.Int(1, 6));
  shape[static_cast<size_t>(random.Int(0, rank - 1))] = random.Int(1, 700);
  return shape;
}

std::vector<int64_t> DenseStrides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

struct Tensors {
  DType type;
  Bytes data;
  int64_t element() const { return static_cast<int64_t>(SizeOf(type)); }
};

Tensors Make(Random& random, const Shape& src) {
  constexpr DType kTypes[] = {DType::kU8, DType::kU8, DType::kF16, DType::kF32, DType::kS64};
  const DType type = kTypes[random.Int(0, 4)];
  return {type, random.Data(NumElements(src) * static_cast<int64_t>(SizeOf(type)))};
}

// RunEverywhere has up to three threads and its own parts; this adds a fourth.
void Expect(const ProgramBuilder& b, const std::vector<Bytes>& inputs, const Bytes& expected) {
  ASSERT_EQ(RunEverywhere(b, inputs), expected);
  ASSERT_EQ(RunProgram(b.Build(), inputs, {.threads = 4, .isa = BestIsa()}), expected);
}

TEST(MoveSmall, TransposesOfBlocks) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = SmallAndLong(random, random.Int(2, 6));
    if (NumElements(src) > 60000) continue;
    const Tensors t = Make(random, src);
    std::vector<int64_t> perm(src.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random.engine);
    View view;
    for (const int64_t axis : perm) {
      view.shape.push_back(src[static_cast<size_t>(axis)]);
      view.strides.push_back(DenseStrides(src)[static_cast<size_t>(axis)]);
    }
    ProgramBuilder b;
    const int32_t in = b.Input({t.type, src}), out = b.Output({t.type, view.shape});
    b.Add(Opcode::kTranspose, out, in).Set(Field::kList, b.List(perm));
    Expect(b, {t.data}, Through(view, t.data, t.element()));
  }
}

TEST(MoveSmall, SlicesWithSteps) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = SmallAndLong(random, random.Int(1, 4));
    const Tensors t = Make(random, src);
    std::vector<int64_t> starts, steps;
    View view;
    for (size_t d = 0; d < src.size(); ++d) {
      const int64_t step = random.Int(1, 3);
      const bool back = random.Int(0, 2) == 0;
      view.shape.push_back((src[d] + step - 1) / step);
      starts.push_back(back ? src[d] - 1 : 0);
      steps.push_back(back ? -step : step);
      view.strides.push_back(steps.back() * DenseStrides(src)[d]);
      view.first += starts.back() * DenseStrides(src)[d];
    }
    ProgramBuilder b;
    const int32_t in = b.Input({t.type, src}), out = b.Output({t.type, view.shape});
    b.Add(Opcode::kSlice, out, in)
        .Set(Field::kList, b.List(starts))
        .Set(Field::kList2, b.List(steps));
    Expect(b, {t.data}, Through(view, t.data, t.element()));
  }
}

TEST(MoveSmall, ExpandsOfScalarsRowsAndColumns) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    View view{.shape = SmallAndLong(random, random.Int(1, 4)), .strides = {}};
    view.shape.back() = random.Int(0, 1) == 0 ? view.shape.back() : random.Int(1, 200);
    Shape src = view.shape;
    for (int64_t& dim : src) dim = random.Int(0, 1) == 0 ? 1 : dim;
    for (size_t d = 0; d < src.size(); ++d) {
      view.strides.push_back(src[d] == 1 ? 0 : DenseStrides(src)[d]);
    }
    const Tensors t = Make(random, src);
    ProgramBuilder b;
    const int32_t in = b.Input({t.type, src}), out = b.Output({t.type, view.shape});
    b.Add(Opcode::kExpand, out, in);
    Expect(b, {t.data}, Through(view, t.data, t.element()));
  }
}

TEST(MoveSmall, TilesOfShortRows) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape src = SmallAndLong(random, random.Int(1, 3));
    const Tensors t = Make(random, src);
    std::vector<int64_t> repeats;
    Shape dst;
    View view;  // a repeat, then the dimension
    for (size_t d = 0; d < src.size(); ++d) {
      repeats.push_back(random.Int(1, 5));
      dst.push_back(src[d] * repeats.back());
      view.shape.insert(view.shape.end(), {repeats.back(), src[d]});
      view.strides.insert(view.strides.end(), {0, DenseStrides(src)[d]});
    }
    ProgramBuilder b;
    const int32_t in = b.Input({t.type, src}), out = b.Output({t.type, dst});
    b.Add(Opcode::kTile, out, in).Set(Field::kList, b.List(repeats));
    Expect(b, {t.data}, Through(view, t.data, t.element()));
  }
}

// Indices as data and as constants, which have code of their own: all must give the same.
TEST(MoveSmall, GathersFromManyRows) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool constant = random.Int(0, 1) == 0;
    const int64_t outer = random.Int(1, 100), size = random.Int(1, 150), count = random.Int(1, 300),
                  chunk = random.Int(0, 9) == 0 ? random.Int(1, 20000) : random.Int(1, 7);
    if (outer * std::max(size, count) * chunk > 300000) continue;
    const Tensors t = Make(random, {outer, size, chunk});
    const int64_t bytes = chunk * t.element();
    std::vector<int32_t> indices;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t outside = constant ? 0 : 2;
      indices.push_back(static_cast<int32_t>(random.Int(-size - outside, size - 1 + outside)));
    }
    Bytes expected;
    for (int64_t o = 0; o < outer; ++o) {
      for (const int32_t index : indices) {
        const int64_t at = index < 0 ? index + size : index;
        if (at < 0 || at >= size) {
          expected.insert(expected.end(), static_cast<size_t>(bytes), 0);
        } else {
          const auto from = t.data.begin() + (o * size + at) * bytes;
          expected.insert(expected.end(), from, from + bytes);
        }
      }
    }
    ProgramBuilder b;
    const int32_t in = b.Input({t.type, {outer, size, chunk}});
    const int32_t out = b.Output({t.type, {outer, count, chunk}});
    const int32_t list =
        constant ? b.Const(DType::kS32, {count}, indices) : b.Input({DType::kS32, {count}});
    b.Add(Opcode::kGather, out, in).Set(Field::kAxis, 1).Set(Field::kSrc2, list);
    if (constant) {
      Expect(b, {t.data}, expected);
    } else {
      Expect(b, {t.data, AsBytes(indices)}, expected);
    }
  }
}

}  // namespace
}  // namespace rshift::testing
