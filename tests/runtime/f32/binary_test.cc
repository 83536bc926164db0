#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isa/functions.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

CommandCase BinaryCase(BinaryOp mode, const TestTensor& a, const TestTensor& b, DType type,
                       Shape dst) {
  CommandCase test(Opcode::kBinaryF32, {{Field::kSrc, a}, {Field::kSrc2, b}}, type, std::move(dst));
  test.Set(Field::kMode, static_cast<int>(mode));
  return test;
}

double Reference(BinaryOp mode, double a, double b) {
  switch (mode) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kPow:
      return std::pow(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kMod:
      return std::fmod(a, b);
    case BinaryOp::kSquaredDifference:
      return (a - b) * (a - b);
    case BinaryOp::kEqual:
      return a == b;
    case BinaryOp::kLess:
      return a < b;
    case BinaryOp::kLessOrEqual:
      return a <= b;
    case BinaryOp::kGreater:
      return a > b;
    case BinaryOp::kGreaterOrEqual:
      return a >= b;
    default:
      return -1;
  }
}

struct Shapes {
  Shape a, b, dst;
};

const Shapes kShapes[] = {
    {{7, 13, 5}, {7, 13, 5}, {7, 13, 5}},
    {{3, 4, 5, 67}, {67}, {3, 4, 5, 67}},
    {{1}, {9, 31}, {9, 31}},
    {{9, 31}, {}, {9, 31}},
    {{2, 1, 5, 1, 3}, {4, 1, 6, 1}, {2, 4, 5, 6, 3}},
    {{5, 1}, {1, 7}, {5, 7}},
    {{2, 3, 1, 1}, {2, 3, 4, 5}, {2, 3, 4, 5}},
    {{2, 1, 2, 1, 2, 1, 2, 3}, {1, 3, 1, 2, 1, 2, 2, 1}, {2, 3, 2, 2, 2, 2, 2, 3}},
    {{}, {}, {}},
    {{0, 3}, {3}, {0, 3}},
};

std::vector<double> ReferenceOf(BinaryOp mode, const TestTensor& a, const TestTensor& b,
                                const Shape& dst) {
  const std::vector<float> x = a.As<float>(), y = b.As<float>();
  std::vector<double> want;
  ForEachIndex(dst, [&](const Shape& index) {
    want.push_back(
        Reference(mode, x[BroadcastOffset(a.shape, index)], y[BroadcastOffset(b.shape, index)]));
  });
  return want;
}

TEST(BinaryTest, EveryModeBroadcastsLikeNumpy) {
  for (int mode = 0; mode < kBinaryOpCount; ++mode) {
    if (mode > static_cast<int>(BinaryOp::kGreaterOrEqual) &&
        mode < static_cast<int>(BinaryOp::kSquaredDifference)) {
      continue;  // of bool
    }
    for (size_t s = 0; s < std::size(kShapes); ++s) {
      const uint32_t seed = 1000 * mode + static_cast<uint32_t>(s);
      SCOPED_TRACE(::testing::Message() << "mode " << mode << " shapes " << s << " seed " << seed);
      std::mt19937 random(seed);
      const auto& [a_shape, b_shape, dst] = kShapes[s];
      const bool power = mode == static_cast<int>(BinaryOp::kPow);
      const TestTensor a = RandomFloats(a_shape, random, power ? 0.1f : -2.0f, 2.0f);
      const TestTensor b = RandomFloats(b_shape, random, power ? -3.0f : 0.25f, 2.0f);
      const bool compares = kResultIsBool[mode];
      const TestTensor got = RunOnAnyThreads(BinaryCase(
          static_cast<BinaryOp>(mode), a, b, compares ? DType::kBool : DType::kF32, dst));
      const std::vector<double> want = ReferenceOf(static_cast<BinaryOp>(mode), a, b, dst);
      if (compares) {
        EXPECT_EQ(got.bytes, std::vector<uint8_t>(want.begin(), want.end()));
      } else {
        ExpectClose(got.As<float>(), want, 2e-6);
      }
    }
  }
}

TEST(BinaryTest, ClampsTheResult) {
  std::mt19937 random(7);
  const TestTensor a = RandomFloats({11, 19}, random), b = RandomFloats({19}, random);
  CommandCase test = BinaryCase(BinaryOp::kAdd, a, b, DType::kF32, {11, 19});
  test.SetFloat(Field::kClampLoF, 0.0f).SetFloat(Field::kClampHiF, 1.5f);
  std::vector<double> want = ReferenceOf(BinaryOp::kAdd, a, b, {11, 19});
  for (double& value : want) value = std::min(std::max(value, 0.0), 1.5);
  ExpectClose(RunOnAnyThreads(test).As<float>(), want, 1e-6);
}

TEST(BinaryTest, NanWinsInMinAndMax) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TestTensor a = Make<float>({4}, {nan, 1, -1, 2}), b = Make<float>({4}, {0, nan, -2, 3});
  for (const BinaryOp mode : {BinaryOp::kMin, BinaryOp::kMax}) {
    const auto got = RunOnAnyThreads(BinaryCase(mode, a, b, DType::kF32, {4})).As<float>();
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]));
    EXPECT_EQ(got[2], mode == BinaryOp::kMin ? -2 : -1);
    EXPECT_EQ(got[3], mode == BinaryOp::kMin ? 2 : 3);
  }
}

template <typename T>
std::vector<T> Integers(BinaryOp mode, const std::vector<T>& a, const std::vector<T>& b) {
  const Shape shape{static_cast<int64_t>(a.size())};
  return RunOnAnyThreads(
             BinaryCase(mode, Make<T>(shape, a), Make<T>(shape, b), DTypeOf<T>(), shape))
      .template As<T>();
}

TEST(BinaryTest, IntegerDivisionCutsTowardZeroAndNeverTraps) {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(Integers<int32_t>(BinaryOp::kDiv, {7, -7, 5, lowest, 9}, {2, 2, 0, -1, -3}),
            (std::vector<int32_t>{3, -3, 0, lowest, -3}));
  const int64_t lowest64 = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Integers<int64_t>(BinaryOp::kDiv, {7, -7, 5, lowest64}, {-2, 2, 0, -1}),
            (std::vector<int64_t>{-3, -3, 0, lowest64}));
}

TEST(BinaryTest, IntegerModHasTheSignOfTheDivisor) {
  EXPECT_EQ(Integers<int64_t>(BinaryOp::kMod, {-4, 7, 5, 4, -7, 8, 3}, {2, -3, 8, -2, 3, 5, 0}),
            (std::vector<int64_t>{0, -2, 5, 0, 2, 3, 0}));
}

TEST(BinaryTest, IntegerArithmeticWrapsAround) {
  const int32_t highest = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(Integers<int32_t>(BinaryOp::kAdd, {highest, 2}, {1, 3}),
            (std::vector<int32_t>{std::numeric_limits<int32_t>::min(), 5}));
  EXPECT_EQ(Integers<int32_t>(BinaryOp::kMul, {65536, -3}, {65536, 5}),
            (std::vector<int32_t>{0, -15}));
  EXPECT_EQ(Integers<int64_t>(BinaryOp::kPow, {3, -2}, {4, 3}), (std::vector<int64_t>{81, -8}));
  EXPECT_EQ(
      Integers<int64_t>(BinaryOp::kPow, {3, 3, 2, -1, 0}, {39, 40, -1, -3, 0}),
      (std::vector<int64_t>{4052555153018976267, std::numeric_limits<int64_t>::min(), 0, -1, 1}));
  EXPECT_EQ(Integers<int32_t>(BinaryOp::kSquaredDifference, {3, 65536}, {5, 0}),
            (std::vector<int32_t>{4, 0}));
  EXPECT_EQ(Integers<int64_t>(BinaryOp::kMax, {3, -2}, {4, -3}), (std::vector<int64_t>{4, -2}));
}

TEST(BinaryTest, LogicBroadcasts) {
  const TestTensor a = BoolTensor({2, 1}, {0, 1}), b = BoolTensor({2}, {0, 1});
  const auto run = [&](BinaryOp mode) {
    return RunOnAnyThreads(BinaryCase(mode, a, b, DType::kBool, {2, 2})).bytes;
  };
  EXPECT_EQ(run(BinaryOp::kAnd), (std::vector<uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ(run(BinaryOp::kOr), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(run(BinaryOp::kXor), (std::vector<uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ(run(BinaryOp::kEqual), (std::vector<uint8_t>{1, 0, 0, 1}));
}

TEST(BinaryTest, RejectsWhatItCannotCompute) {
  const TestTensor floats = Make<float>({2}, {1, 2}), bytes = Make<int8_t>({2}, {1, 2});
  EXPECT_NE(ErrorOf(BinaryCase(BinaryOp::kAdd, bytes, bytes, DType::kS8, {2})), kNoError);
  EXPECT_NE(ErrorOf(BinaryCase(BinaryOp::kAdd, floats, bytes, DType::kF32, {2})), kNoError);
  EXPECT_NE(ErrorOf(BinaryCase(BinaryOp::kAnd, floats, floats, DType::kBool, {2})), kNoError);
  EXPECT_NE(ErrorOf(BinaryCase(BinaryOp::kLess, floats, floats, DType::kF32, {2})), kNoError);
  EXPECT_NE(
      ErrorOf(BinaryCase(BinaryOp::kAdd, floats, Make<float>({3}, {1, 2, 3}), DType::kF32, {3})),
      kNoError);
}

}  // namespace
}  // namespace rshift
