#include "codegen/container/strided_bytes.h"

#include <gtest/gtest.h>

#include <random>

namespace rshift {
namespace {

using Bitmap = std::vector<bool>;
using Engine = std::mt19937;

constexpr uint64_t kRegion = 400;

uint64_t Below(Engine& random, uint64_t limit) { return random() % limit; }

Bitmap Bits(const StridedBytes& strided) {
  Bitmap bits(kRegion);
  for (uint64_t i = 0; i < strided.runs; ++i) {
    for (uint64_t b = 0; b < strided.run; ++b)
      bits.at(strided.offset + i * strided.pitch + b) = true;
  }
  return bits;
}

bool Meet(const Bitmap& a, const Bitmap& b) {
  for (size_t i = 0; i < kRegion; ++i) {
    if (a[i] && b[i]) return true;
  }
  return false;
}

// Within the region; `pitch` 0: any.
StridedBytes RandomStrip(Engine& random, uint64_t pitch) {
  if (pitch == 0) pitch = 1 + Below(random, 20);
  const uint64_t runs = 1 + Below(random, 8), run = Below(random, pitch + 1);
  return MakeStridedBytes(Below(random, kRegion - runs * pitch), runs, run, pitch);
}

TEST(MakeStridedBytes, RunsWithoutGapsAreOne) {
  EXPECT_EQ(MakeStridedBytes(5, 3, 4, 4), (StridedBytes{5, 1, 12, 0}));
  EXPECT_EQ(MakeStridedBytes(5, 1, 4, 9), (StridedBytes{5, 1, 4, 0}));
  EXPECT_EQ(MakeStridedBytes(5, 0, 4, 9), (StridedBytes{5, 1, 0, 0}));
  EXPECT_EQ(MakeStridedBytes(5, 3, 0, 9), (StridedBytes{5, 1, 0, 0}));
  EXPECT_EQ(MakeStridedBytes(5, 3, 4, 9).end(), 5u + 2 * 9 + 4);
}

TEST(StridedBytesOf, ReadsPitchAndRowsOfATensor) {
  TensorRecord tensor;
  tensor.dtype = DType::kF32;
  tensor.shape = {1, 2, 3, 5};
  tensor.offset = 64;
  EXPECT_EQ(StridedBytesOf(tensor), (StridedBytes{64, 1, 120, 0}));
  tensor.pitch = 28;
  EXPECT_EQ(StridedBytesOf(tensor), (StridedBytes{64, 6, 20, 28}));
  EXPECT_EQ(tensor.extent(), 5u * 28 + 20);
  tensor.shape = {};
  tensor.pitch = 0;
  EXPECT_EQ(StridedBytesOf(tensor), (StridedBytes{64, 1, 4, 0}));
  tensor.shape = {int64_t{1} << 39, 0, int64_t{1} << 39};
  EXPECT_EQ(StridedBytesOf(tensor).run, 0u);
}

TEST(WrittenBytes, ACopyIntoWritesItsPartOnly) {
  ProgramImage image;
  image.tensors.resize(2);
  TensorRecord &src = image.tensors[0], &dst = image.tensors[1];
  src.dtype = dst.dtype = DType::kS32;
  Command copy = NewCommand(Opcode::kCopyInto).Set(Field::kSrc, 0).Set(Field::kDst, 1);
  const auto written = [&](Shape from, Shape to, uint32_t pitch, int64_t axis, int64_t offset) {
    src.shape = std::move(from);
    dst.shape = std::move(to);
    dst.pitch = pitch;
    return WrittenBytes(image, copy.Set(Field::kAxis, axis).Set(Field::kOffset, offset));
  };
  EXPECT_EQ(written({2, 3, 4}, {2, 3, 9}, 0, 2, 5),
            (StridedBytes{20, 6, 16, 36}));  // the last axis
  EXPECT_EQ(written({2, 3, 4}, {2, 3, 9}, 60, 2, 5), (StridedBytes{20, 6, 16, 60}));  // of a part
  EXPECT_EQ(written({2, 3, 4}, {2, 7, 4}, 0, 1, 2),
            (StridedBytes{32, 2, 48, 112}));  // a middle one
  EXPECT_EQ(written({1, 3, 4}, {1, 7, 4}, 0, 1, 2), (StridedBytes{32, 1, 48, 0}));
  EXPECT_EQ(written({1, 3, 4}, {1, 7, 4}, 20, 1, 2),
            (StridedBytes{40, 3, 16, 20}));  // rows of a part
  EXPECT_EQ(written({2, 0, 4}, {2, 7, 4}, 0, 1, 2).run, 0u);
  EXPECT_EQ(WrittenBytes(image, NewCommand(Opcode::kExpand).Set(Field::kDst, 1)),
            StridedBytesOf(dst));
}

TEST(Overlap, OfDenseBytesAndEqualPitchesIsExact) {
  Engine random(1);
  int meetings = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t pitch = 1 + Below(random, 30);
    const StridedBytes a = RandomStrip(random, pitch);
    const StridedBytes b = RandomStrip(random, Below(random, 3) == 0 ? 1 : pitch);
    const bool meet = Meet(Bits(a), Bits(b));
    ASSERT_EQ(Overlap(a, b), meet) << i;
    ASSERT_EQ(Overlap(b, a), meet) << i;
    meetings += meet ? 1 : 0;
  }
  EXPECT_GT(meetings, 2000);
  EXPECT_LT(meetings, 18000);
}

TEST(Overlap, OfDifferentPitchesMissesNothing) {
  Engine random(2);
  for (int i = 0; i < 20000; ++i) {
    const StridedBytes a = RandomStrip(random, 0), b = RandomStrip(random, 0);
    if (Meet(Bits(a), Bits(b))) {
      ASSERT_TRUE(Overlap(a, b)) << i;
    }
  }
}

TEST(Overlap, OfTensorsAsksForTheRegion) {
  TensorRecord a;
  a.dtype = DType::kU8;
  a.shape = {10};
  TensorRecord b = a;
  EXPECT_TRUE(Overlap(a, b));
  b.region = Region::kConst;
  EXPECT_FALSE(Overlap(a, b));
}

// Whatever is added in any order: what the set says it contains is there.
TEST(ByteSet, FindsNothingThatWasNotAdded) {
  Engine random(3);
  int found = 0;
  for (int i = 0; i < 4000; ++i) {
    ByteSet set;
    Bitmap bits(kRegion);
    const uint64_t pitch = 1 + Below(random, 12);
    for (uint64_t n = 1 + Below(random, 12); n > 0; --n) {
      const StridedBytes strided = RandomStrip(random, Below(random, 4) == 0 ? 0 : pitch);
      set.Add(strided);
      const Bitmap added = Bits(strided);
      for (size_t b = 0; b < kRegion; ++b) bits[b] = bits[b] || added[b];
      EXPECT_TRUE(set.Contains(strided));
    }
    for (int n = 0; n < 20; ++n) {
      const StridedBytes strided = RandomStrip(random, Below(random, 2) == 0 ? 0 : pitch);
      if (!set.Contains(strided)) continue;
      found += strided.run > 0 ? 1 : 0;
      const Bitmap asked = Bits(strided);
      for (size_t b = 0; b < kRegion; ++b) ASSERT_TRUE(!asked[b] || bits[b]) << i;
    }
  }
  EXPECT_GT(found, 1000);
}

// The parts of a Concat in any order are the whole, and neighbours are the part that they make.
TEST(ByteSet, PartsGrowTogether) {
  Engine random(4);
  for (int i = 0; i < 500; ++i) {
    std::vector<StridedBytes> parts;
    const uint64_t offset = 64, rows = 2 + Below(random, 5), count = 1 + Below(random, 5);
    std::vector<uint64_t> widths(count);
    uint64_t pitch = 0;
    for (uint64_t& width : widths) pitch += width = 1 + Below(random, 9);
    uint64_t column = 0;
    for (const uint64_t width : widths) {
      parts.push_back(MakeStridedBytes(offset + column, rows, width, pitch));
      column += width;
    }
    const StridedBytes first_two =
        MakeStridedBytes(offset, rows, widths[0] + (count > 1 ? widths[1] : 0), pitch);
    const StridedBytes all = MakeStridedBytes(offset, rows, pitch, pitch);
    std::vector<size_t> order(count);
    for (size_t p = 0; p < count; ++p) order[p] = p;
    std::shuffle(order.begin(), order.end(), random);
    ByteSet set;
    std::vector<bool> added(count);
    for (const size_t p : order) {
      EXPECT_FALSE(set.Contains(all));
      set.Add(parts[p]);
      added[p] = true;
      EXPECT_EQ(set.Contains(first_two), added[0] && (count == 1 || added[1]));
    }
    EXPECT_TRUE(set.Contains(all));
    EXPECT_FALSE(set.Contains(MakeStridedBytes(offset, 1, rows * pitch + 1, 0)));
    EXPECT_FALSE(set.Contains(MakeStridedBytes(offset - 1, 1, rows * pitch, 0)));
  }
}

}  // namespace
}  // namespace rshift
