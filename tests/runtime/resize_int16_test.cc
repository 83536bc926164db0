// Interpolation of 16-bit integers against its definition in wide arithmetic, on every instruction
// set: any taps, in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "quantize/numerics/resize.h"
#include "tests/runtime/int16_case.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kUnit = int64_t{1} << numerics::kResizeInt16Bits;

struct Tap {
  int64_t index = 0, weight = 0;
};

struct ResizeCase {
  TensorSpec x, y;
  std::vector<int32_t> list;
  std::vector<std::vector<Tap>> taps{4};  // of each resized dimension
  std::vector<int64_t> per_output = std::vector<int64_t>(4, 0);
  int axes = 0;

  explicit ResizeCase(Random& random) {
    x.dtype = DType::kS16;
    x.scale = 0.01f;
    const int64_t first = random.Int(0, 3);
    const bool wide = random.Int(0, 5) == 0;  // more channels, or a longer row, than a block has
    for (int64_t d = 0; d < 4; ++d) {
      const auto at = static_cast<size_t>(d);
      const bool scaled = d == first || (axes == 1 && random.Int(0, 1) == 0);
      const bool large = wide && (d == 3 || scaled);
      x.shape.push_back(large ? random.Int(1000, 9000) : random.Int(1, d == 3 ? 70 : 7));
      if (wide && !large) x.shape.back() = 1;
      if (wide && axes == 1 && scaled && d > first) x.shape.back() = 2;
      y.shape.push_back(scaled ? random.Int(1, wide ? 3 : 12) : x.shape[at]);
      if (!scaled) continue;
      ++axes;
      per_output[at] = random.Int(1, 4);
      for (int64_t i = 0; i < y.shape[at]; ++i) AddOutput(random, at);
    }
    for (size_t d = 0; d < 4; ++d) list.push_back(static_cast<int32_t>(per_output[d]));
    for (size_t d = 0; d < 4; ++d) {
      for (const Tap& tap : taps[d]) {
        list.push_back(static_cast<int32_t>(tap.index));
        list.push_back(static_cast<int32_t>(tap.weight));
      }
    }
  }

  // Weights that add up to 1, some of them below 0; the greatest that are allowed, too.
  void AddOutput(Random& random, size_t d) {
    const int64_t count = per_output[d];
    const int64_t below = axes == 1 && random.Int(0, 1) == 0 ? random.Int(0, kUnit / 2 - 1) : 0;
    int64_t rest = kUnit + (count > 1 ? below : 0);
    const bool in_order = random.Int(0, 1) == 0;
    const int64_t begin = random.Int(0, x.shape[d] - 1);
    for (int64_t k = 0; k < count; ++k) {
      const bool last = k + 1 == count;
      const int64_t index =
          in_order ? std::min(begin + k, x.shape[d] - 1) : random.Int(0, x.shape[d] - 1);
      const int64_t weight = last             ? (count > 1 ? -below : rest)
                             : k + 2 == count ? rest
                                              : random.Int(0, rest);
      if (!last) rest -= weight;
      taps[d].push_back({index, weight});
    }
  }

  int32_t Expected(const std::vector<int32_t>& numbers, int64_t flat, const RequantWords& words,
                   const Limits& limits) const {
    std::vector<int64_t> at(4);
    for (size_t d = 4; d-- > 0; flat /= y.shape[d]) at[d] = flat % y.shape[d];
    std::vector<Tap> all = {{0, 1}};  // index into x, product of weights
    for (size_t d = 0; d < 4; ++d) {
      std::vector<Tap> next;
      for (const Tap& tap : all) {
        if (per_output[d] == 0) next.push_back({tap.index * x.shape[d] + at[d], tap.weight});
        for (int64_t k = 0; k < per_output[d]; ++k) {
          const Tap& own = taps[d][static_cast<size_t>(at[d] * per_output[d] + k)];
          next.push_back({tap.index * x.shape[d] + own.index, tap.weight * own.weight});
        }
      }
      all = next;
    }
    Wide sum = 0;
    for (const Tap& tap : all) sum += Wide{tap.weight} * numbers[static_cast<size_t>(tap.index)];
    return Held(sum * words.multiplier, words.rshift, y.zero_point, limits);
  }
};

TEST(ResizeS16Step, IsTheSumOfItsTaps) {
  for (uint32_t seed = 1; seed <= 240; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ResizeCase c(random);
    c.y.dtype = AnyType(random);
    c.y.scale = 0.02f;
    c.y.zero_point = c.y.dtype == DType::kS16 ? 0 : random.Zero(c.y.dtype);
    RequantWords words = numerics::ResizeInt16Words(1.0, c.axes);
    if (random.Int(0, 1) == 0) {
      words = {static_cast<int32_t>(random.Int(1, 65535)),
               static_cast<int32_t>(random.Int(0, 3) == 0 ? random.Int(0, 62)
                                                          : 15 * c.axes + random.Int(10, 24))};
    }
    ProgramBuilder b;
    const int32_t src = b.Input(c.x), dst = b.Output(c.y);
    const int32_t taps = b.Const(DType::kS32, {static_cast<int64_t>(c.list.size())}, c.list);
    Command& command = b.Add(Opcode::kResizeS16, dst, src).Set(Field::kList, taps);
    command.Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    const Limits limits = SetClamp(random, c.y.dtype, command);
    const auto numbers = Numbers(random, DType::kS16, NumElements(c.x.shape));
    std::vector<int32_t> expected;
    for (int64_t i = 0; i < NumElements(c.y.shape); ++i)
      expected.push_back(c.Expected(numbers, i, words, limits));
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, DType::kS16)}), c.y.dtype, expected);
  }
}

// The same map in the same scale: every number as it is.
TEST(ResizeS16Step, WordsOfOneScaleAreExact) {
  for (int axes = 0; axes <= 2; ++axes) {
    const RequantWords words = numerics::ResizeInt16Words(1.0, axes);
    for (const int32_t q : {-32768, -32767, -1, 0, 1, 32767}) {
      const int64_t sum = int64_t{q} * (int64_t{1} << (15 * axes));
      EXPECT_EQ(numerics::FinishResizeInt16(sum, words, 0, -32768, 32767), q);
    }
  }
}

// Ratios of every size: the words are the nearest of 16 bits, or what saturates or vanishes anyway.
TEST(ResizeS16Step, WordsAreTheNearestOfSixteenBits) {
  for (int e = -80; e <= 80; ++e) {
    const double ratio = std::ldexp(1.37, e);
    const RequantWords words = numerics::ResizeInt16Words(ratio, 2);
    ASSERT_GE(words.multiplier, 0);
    ASSERT_LE(words.multiplier, 65535);
    const double own = std::ldexp(words.multiplier, 30 - words.rshift);
    if (e > -17 && e < 45) {
      EXPECT_NEAR(own / ratio, 1, 0x1p-16) << e;
    }
    if (e < -50) {
      EXPECT_EQ(words.multiplier, 0);
    }
  }
}

struct BadResize {
  std::vector<int32_t> list;
  int64_t multiplier;
  const char* message;
};

TEST(ResizeS16Step, DamagedCommandsAreRefused) {
  const BadResize cases[] = {
      {{0, 2, 0, 16384, 1, 16384, 0, 16384, 3, 16384}, 1, "index 3 is outside a dimension"},
      {{0, 2, 0, 16384, 1, 16384, 0, 16384, -1, 16384}, 1, "index -1 is outside a dimension"},
      {{0, 2, 0, 16384, 1, 16384, 0, 16384, 1, 16383}, 1, "add up to 32767, expected 32768"},
      {{0, 2, 0, 49152, 1, -16384, 0, 16384, 1, 16384}, 1, "amplify by 2 or more"},
      {{0, 2, 0, 16384, 1, 16384, 0, 16384}, 1, "taps for each dimension"},
      {{0, 0}, 1, "dimension 1 has no taps"},
      {{0, 2, 0, 16384, 1, 16384, 0, 16384, 1, 16384}, 65536, "expected at most 65535"},
  };
  for (const BadResize& bad : cases) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, {4, 3}, 0.1f});
    const int32_t dst = b.Output({DType::kS16, {4, 2}, 0.1f});
    const auto size = static_cast<int64_t>(bad.list.size());
    b.Add(Opcode::kResizeS16, dst, src)
        .Set(Field::kList, b.Const(DType::kS32, {size}, bad.list))
        .Set(Field::kMultiplier, bad.multiplier)
        .Set(Field::kRshift, 15);
    EXPECT_THAT(LoadError(b), HasSubstr(bad.message));
  }
  // Both dimensions at 1.5: 2.25 in all.
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS16, {2, 2}, 0.1f});
  const int32_t dst = b.Output({DType::kS16, {1, 1}, 0.1f});
  const std::vector<int32_t> list = {2, 2, 0, 40960, 1, -8192, 0, 40960, 1, -8192};
  b.Add(Opcode::kResizeS16, dst, src).Set(Field::kList, b.Const(DType::kS32, {10}, list));
  EXPECT_THAT(LoadError(b), HasSubstr("amplify by more than 2"));
}

}  // namespace
}  // namespace rshift::testing
