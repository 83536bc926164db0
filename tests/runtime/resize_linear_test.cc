// Interpolation in LiteRT's arithmetic against its definition, on every instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "isa/functions.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

struct LinearCase {
  ResizeArithmetic arithmetic = ResizeArithmetic::kHalfAway;
  TensorSpec x, y;
  std::vector<int32_t> list;
  std::vector<size_t> resized;                 // dimensions, two at most
  std::vector<std::vector<int32_t>> pairs{4};  // of each dimension
  Bytes data;
  ProgramBuilder builder;

  explicit LinearCase(uint32_t seed) {
    Random random(seed);
    arithmetic = static_cast<ResizeArithmetic>(seed % kResizeArithmeticCount);
    const bool whole = arithmetic == ResizeArithmetic::kHalfAway;
    const DType types[] = {DType::kS8, DType::kU8, DType::kS16};
    x.dtype = whole ? types[random.Int(0, 2)] : DType::kU8;
    const auto first = static_cast<size_t>(random.Int(0, 3));
    for (size_t d = 0; d < 4; ++d) {
      const bool scaled = d == first || (resized.size() == 1 && random.Int(0, 1) == 0);
      const int64_t in = random.Int(1, d == 3 && random.Int(0, 2) == 0 ? 300 : 9);
      x.shape.push_back(in);
      y.shape.push_back(scaled ? random.Int(1, 12) : in);
      list.push_back(scaled ? 2 : 0);
      if (!scaled) continue;
      resized.push_back(d);
      for (int64_t i = 0; i < y.shape[d]; ++i) AddPair(random, d, whole);
    }
    for (const size_t d : resized) list.insert(list.end(), pairs[d].begin(), pairs[d].end());
    if (x.dtype != DType::kS16) x.zero_point = random.Zero(x.dtype);
    y.dtype = x.dtype;
    y.zero_point = x.zero_point;
    data = random.Data(NumElements(x.shape) * static_cast<int64_t>(SizeOf(x.dtype)));
    const int32_t src = builder.Input(x), dst = builder.Output(y);
    const int32_t taps = builder.Const(DType::kS32, {static_cast<int64_t>(list.size())}, list);
    builder.Add(Opcode::kResizeLinear, dst, src)
        .Set(Field::kList, taps)
        .Set(Field::kMode, static_cast<int64_t>(arithmetic));
  }

  // Halves, ends and anything; sums of floats that leave [0, 255] too.
  void AddPair(Random& random, size_t d, bool whole) {
    const auto index = [&] { return static_cast<int32_t>(random.Int(0, x.shape[d] - 1)); };
    if (whole) {
      const auto part = static_cast<int32_t>(random.Int(0, 1) == 0 ? 256 * random.Int(0, 4)
                                                                   : random.Int(0, 1024));
      pairs[d].insert(pairs[d].end(), {index(), 1024 - part, index(), part});
      return;
    }
    const float part = random.Int(0, 2) == 0 ? random.Float(-1.0f, 1.9f) : random.Float(0, 1);
    pairs[d].insert(pairs[d].end(), {index(), std::bit_cast<int32_t>(1.0f - part), index(),
                                     std::bit_cast<int32_t>(part)});
  }

  // Of a dimension at the output index `at`: indices, and coefficients as they are in the list.
  std::array<int32_t, 4> PairAt(size_t d, int64_t at) const {
    const auto i = static_cast<size_t>(4 * at);
    return {pairs[d][i], pairs[d][i + 1], pairs[d][i + 2], pairs[d][i + 3]};
  }

  int64_t Element(std::vector<int64_t> at) const {
    int64_t flat = 0;
    for (size_t d = 0; d < 4; ++d) flat = flat * x.shape[d] + at[d];
    const auto i = static_cast<size_t>(flat);
    if (x.dtype == DType::kS16)
      return static_cast<int16_t>(data[2 * i] | static_cast<uint16_t>(data[2 * i + 1]) << 8);
    return Value(data[i], x.dtype);
  }

  int32_t Expected(int64_t flat) const {
    std::vector<int64_t> at(4);
    for (size_t d = 4; d-- > 0; flat /= y.shape[d]) at[d] = flat % y.shape[d];
    const bool whole = arithmetic == ResizeArithmetic::kHalfAway;
    const int32_t one = whole ? 1024 : std::bit_cast<int32_t>(1.0f);
    std::array<std::array<int32_t, 4>, 2> by = {{{0, one, 0, 0}, {0, one, 0, 0}}};
    const size_t skip = 2 - resized.size();
    for (size_t k = 0; k < resized.size(); ++k) by[k + skip] = PairAt(resized[k], at[resized[k]]);
    int64_t sum = 0;
    float q[2][2];
    for (size_t i = 0; i < 2; ++i) {
      for (size_t j = 0; j < 2; ++j) {
        std::vector<int64_t> from = at;
        if (resized.size() == 2) from[resized[0]] = by[0][2 * i];
        from[resized.back()] = by[1][2 * j];
        const int64_t element = Element(from);
        q[i][j] = static_cast<float>(element);
        if (whole) sum += element * by[0][2 * i + 1] * by[1][2 * j + 1];
      }
    }
    if (whole) return static_cast<int32_t>(std::llround(static_cast<long double>(sum) / 1048576));
    const auto c = [&](size_t k, size_t i) { return std::bit_cast<float>(by[k][2 * i + 1]); };
    volatile float total = 0;
    const bool first = arithmetic == ResizeArithmetic::kFloatFirst;
    for (size_t k = 0; k < 4; ++k) {
      const size_t i = first ? k % 2 : k / 2, j = first ? k / 2 : k % 2;
      volatile float part = first ? q[i][j] * c(0, i) : c(0, i) * c(1, j);
      part = first ? part * c(1, j) : q[i][j] * part;
      total = k == 0 ? part : total + part;
    }
    total = total + 0.5f;
    return std::min(std::max(static_cast<int32_t>(total), 0), 255);
  }
};

TEST(ResizeLinearStep, IsLiteRtsSumOfFour) {
  for (uint32_t seed = 1; seed <= 240; ++seed) {
    SCOPED_TRACE(seed);
    LinearCase c(seed);
    Bytes expected;
    for (int64_t i = 0; i < NumElements(c.y.shape); ++i) {
      const int32_t q = c.Expected(i);
      expected.push_back(static_cast<uint8_t>(q));
      if (c.y.dtype == DType::kS16) expected.push_back(static_cast<uint8_t>(q >> 8));
    }
    ASSERT_EQ(RunEverywhere(c.builder, {c.data}), expected);
  }
}

// Ties of either sign go away from zero.
TEST(ResizeLinearStep, TiesGoAwayFromZero) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {2, 4}}), dst = b.Output({DType::kS8, {1, 4}});
  const int32_t list = b.Const(DType::kS32, {6}, std::vector<int32_t>{2, 0, 0, 512, 1, 512});
  b.Add(Opcode::kResizeLinear, dst, src).Set(Field::kList, list);
  const Bytes x = {3, 0xfd, 0x80, 127, 4, 0xfc, 0x81, 126};
  EXPECT_EQ(RunEverywhere(b, {x}), (Bytes{4, 0xfc, 0x80, 127}));
}

struct BadLinear {
  std::vector<int32_t> list;
  int64_t mode;
  DType type;
  const char* message;
};

TEST(ResizeLinearStep, DamagedCommandsAreRefused) {
  const int32_t half = std::bit_cast<int32_t>(0.5f), three = std::bit_cast<int32_t>(-3.0f),
                nan = 0x7fc00000;
  const BadLinear cases[] = {
      {{0, 2, 0, 512, 1, 512, 0, 512, 3, 512}, 0, DType::kS8, "index 3 is outside a dimension"},
      {{0, 2, 0, 512, 1, 512, 0, 512, -1, 512}, 0, DType::kS8, "index -1 is outside a dimension"},
      {{0, 2, 0, 512, 1, 512, 0, 512, 1, 511}, 0, DType::kS8, "coefficients are 512 and 511"},
      {{0, 2, 0, 1025, 1, -1, 0, 512, 1, 512}, 0, DType::kS16, "coefficients are 1025 and -1"},
      {{0, 2, 0, 512, 1, 512, 0, 512}, 0, DType::kS8, "expected 0 or 2 taps"},
      {{0, 1, 0, 1024, 0, 1024}, 0, DType::kS8, "dimension 1 has 1 taps, expected 0 or 2"},
      {{0, 0}, 0, DType::kS8, "dimension 1 has no taps"},
      {{0, 2, 0, 512, 1, 512, 0, 512, 1, 512}, 0, DType::kF32, "f32"},
      {{0, 2, 0, half, 1, half, 0, half, 1, three}, 1, DType::kU8, "a coefficient is -3"},
      {{0, 2, 0, half, 1, half, 0, half, 1, nan}, 2, DType::kU8, "a coefficient is"},
      {{0, 2, 0, half, 1, half, 0, half, 1, half}, 1, DType::kS8, "s8"},
      {{0, 2, 0, half, 1, half, 0, half, 1, half}, 2, DType::kS16, "s16"},
  };
  for (const BadLinear& bad : cases) {
    ProgramBuilder b;
    const int32_t src = b.Input({bad.type, {4, 3}}), dst = b.Output({bad.type, {4, 2}});
    const auto size = static_cast<int64_t>(bad.list.size());
    const int32_t list = b.Const(DType::kS32, {size}, bad.list);
    b.Add(Opcode::kResizeLinear, dst, src).Set(Field::kList, list).Set(Field::kMode, bad.mode);
    EXPECT_NE(LoadError(b).find(bad.message), std::string::npos) << LoadError(b);
  }
  ProgramBuilder b;  // three dimensions
  const int32_t src = b.Input({DType::kS8, {1, 1, 1}}), dst = b.Output({DType::kS8, {1, 1, 1}});
  std::vector<int32_t> list = {2, 2, 2};
  for (int d = 0; d < 3; ++d) list.insert(list.end(), {0, 1024, 0, 0});
  b.Add(Opcode::kResizeLinear, dst, src).Set(Field::kList, b.Const(DType::kS32, {15}, list));
  EXPECT_NE(LoadError(b).find("at most 2 dimensions may have taps"), std::string::npos);
}

}  // namespace
}  // namespace rshift::testing
