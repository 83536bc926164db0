// Interpolation of bytes against its definition, on every instruction set.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

struct Axis {
  int64_t in = 1, out = 1;
  int taps = 0;
  std::vector<int32_t> pairs;  // index, coefficient
};

// Coefficients that add up to 2048: any, or a quarter and three as of an image of twice the size.
Axis RandomAxis(Random& random, int taps, bool quarters) {
  Axis axis{random.Int(1, 9), random.Int(1, 12), taps, {}};
  if (taps == 0) axis.out = axis.in;
  for (int64_t i = 0; i < axis.out * (taps > 0 ? 1 : 0); ++i) {
    int32_t left = 2048;
    for (int k = 0; k < taps; ++k) {
      int32_t c = static_cast<int32_t>(random.Int(-100, 700));
      if (taps == 2)
        c = static_cast<int32_t>(quarters ? 512 * random.Int(0, 4) : random.Int(0, 2048));
      if (k + 1 == taps) c = left;
      left -= c;
      axis.pairs.push_back(static_cast<int32_t>(random.Int(0, axis.in - 1)));
      axis.pairs.push_back(c);
    }
  }
  return axis;
}

struct Case {
  std::vector<Axis> axes;
  TensorSpec x, y;
  Bytes data;
  int bits = 0;
  int64_t multiplier = 0, rshift = 0;
  ProgramBuilder builder;

  explicit Case(uint32_t seed) {
    Random random(seed);
    const bool quarters = seed % 3 == 0;
    const int first = static_cast<int>(random.Int(0, 2));
    const int taps = quarters || random.Int(0, 1) == 0 ? 2 : 4;
    std::vector<int32_t> list, pairs;
    for (int d = 0; d < 4; ++d) {
      const bool resized = d == first || (d == first + 1 && random.Int(0, 2) > 0);
      axes.push_back(RandomAxis(random, resized ? taps : 0, quarters));
      if (d == 3 && !resized && seed % 2 == 0) axes[3].in = axes[3].out = random.Int(250, 300);
      bits += resized ? 11 : 0;
      list.push_back(axes.back().taps);
      pairs.insert(pairs.end(), axes.back().pairs.begin(), axes.back().pairs.end());
      x.shape.push_back(axes.back().in);
      y.shape.push_back(axes.back().out);
    }
    list.insert(list.end(), pairs.begin(), pairs.end());
    y.dtype = x.dtype = random.Byte();
    y.zero_point = x.zero_point = random.Zero(x.dtype);
    if (random.Int(0, 2) == 0) {
      y.dtype = random.Byte();
      y.zero_point = random.Zero(y.dtype);
      multiplier = random.Int(int64_t{1} << 30, INT32_MAX);
      rshift = 31 + bits + random.Int(-1, 3);
    }
    data = random.Data(NumElements(x.shape));
    const int32_t src = builder.Input(x), dst = builder.Output(y);
    const auto size = static_cast<int64_t>(list.size());
    const int32_t taps_list = builder.Const(DType::kS32, {size}, list);
    builder.Add(Opcode::kResize, dst, src)
        .Set(Field::kList, taps_list)
        .Set(Field::kMultiplier, multiplier)
        .Set(Field::kRshift, rshift)
        .Set(Field::kClampLoQ, Lowest(y.dtype))
        .Set(Field::kClampHiQ, Highest(y.dtype));
  }

  // The sum at output `at` from dimension d on, of the source that begins at element `source`.
  int64_t Sum(const std::vector<int64_t>& at, size_t d, int64_t source) const {
    if (d == axes.size()) return Value(data[static_cast<size_t>(source)], x.dtype);
    const Axis& axis = axes[d];
    if (axis.taps == 0) return Sum(at, d + 1, source * axis.in + at[d]);
    int64_t sum = 0;
    for (int k = 0; k < axis.taps; ++k) {
      const auto tap = static_cast<size_t>(2 * (at[d] * axis.taps + k));
      sum += axis.pairs[tap + 1] * Sum(at, d + 1, source * axis.in + axis.pairs[tap]);
    }
    return sum;
  }

  uint8_t Expected(int64_t flat) const {
    std::vector<int64_t> at(axes.size());
    for (size_t d = axes.size(); d-- > 0; flat /= axes[d].out) at[d] = flat % axes[d].out;
    const auto sum = static_cast<long double>(Sum(at, 0, 0));
    long double v = 0;
    if (multiplier == 0) {
      v = std::floor(sum / std::exp2(static_cast<long double>(bits)) + 0.5L);
    } else {
      const long double centred = sum - x.zero_point * std::exp2(static_cast<long double>(bits));
      v = std::floor(centred * static_cast<long double>(multiplier) /
                         std::exp2(static_cast<long double>(rshift)) +
                     0.5L) +
          y.zero_point;
    }
    v = std::min<long double>(std::max<long double>(v, Lowest(y.dtype)), Highest(y.dtype));
    return static_cast<uint8_t>(static_cast<int32_t>(v));
  }
};

TEST(ResizeStep, IsTheSumOfItsTapsRoundedOnce) {
  for (uint32_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(seed);
    Case c(seed);
    Bytes expected;
    for (int64_t i = 0; i < NumElements(c.y.shape); ++i) expected.push_back(c.Expected(i));
    ASSERT_EQ(RunEverywhere(c.builder, {c.data}), expected);
  }
}

struct BadList {
  std::vector<int32_t> list;
  const char* message;
};

TEST(ResizeStep, DamagedListsAreRefused) {
  const BadList cases[] = {
      {{0, 2, 0, 1024, 1, 1024, 0, 1024, 3, 1024}, "index 3 is outside a dimension of 3"},
      {{0, 2, 0, 1024, 1, 1024, 0, 1024, 1, 1023}, "add up to 2047, expected 2048"},
      {{0, 2, 0, 9000, 1, -6952, 0, 1024, 1, 1024}, "amplify by"},
      {{0, 2, 0, 1024, 1, 1024, 0, 1024}, "expected 0 to 4 taps"},
      {{0, 5, 0, 1024, 1, 1024, 0, 1024, 1, 1024}, "expected 0 to 4 taps"},
      {{0, 0}, "dimension 1 has no taps"},
  };
  for (const BadList& bad : cases) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS8, {4, 3}}), dst = b.Output({DType::kS8, {4, 2}});
    const auto size = static_cast<int64_t>(bad.list.size());
    const int32_t list = b.Const(DType::kS32, {size}, bad.list);
    b.Add(Opcode::kResize, dst, src)
        .Set(Field::kList, list)
        .Set(Field::kClampLoQ, -128)
        .Set(Field::kClampHiQ, 127);
    EXPECT_NE(LoadError(b).find(bad.message), std::string::npos) << LoadError(b);
  }
}

}  // namespace
}  // namespace rshift::testing
