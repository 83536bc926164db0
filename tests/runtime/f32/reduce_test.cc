#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "isa/functions.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

double Reference(ReduceOp mode, const std::vector<double>& x) {
  double sum = 0, l1 = 0, squares = 0, product = 1, powers = 0, highest = x[0], lowest = x[0];
  for (const double value : x) {
    sum += value;
    l1 += std::fabs(value);
    squares += value * value;
    product *= value;
    powers += std::exp(value);
    highest = std::max(highest, value);
    lowest = std::min(lowest, value);
  }
  switch (mode) {
    case ReduceOp::kMean:
      return sum / x.size();
    case ReduceOp::kSum:
      return sum;
    case ReduceOp::kMax:
      return highest;
    case ReduceOp::kMin:
      return lowest;
    case ReduceOp::kProd:
      return product;
    case ReduceOp::kL1:
      return l1;
    case ReduceOp::kL2:
      return std::sqrt(squares);
    case ReduceOp::kSumSquare:
      return squares;
    case ReduceOp::kLogSumExp:
      return std::log(powers);
    case ReduceOp::kLogSum:
      return std::log(sum);
  }
  return -1;
}

// Half a unit in the last place of the float written and the sum's error in double; a logarithm is
// of a sum that is off by as much.
double Tolerance(ReduceOp mode) { return mode == ReduceOp::kLogSum ? 1e-6 : 6.0e-8; }

bool Contains(const std::vector<int64_t>& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

void CheckReduce(ReduceOp mode, const Shape& shape, const std::vector<int64_t>& axes,
                 uint32_t seed) {
  SCOPED_TRACE(::testing::Message() << "mode " << static_cast<int>(mode) << " " << ToString(shape)
                                    << " over " << ToString(axes) << " seed " << seed);
  std::mt19937 random(seed);
  const TestTensor x = RandomFloats(shape, random, mode == ReduceOp::kLogSum ? 0.1f : -1.5f, 1.5f);
  Shape kept;
  for (size_t d = 0; d < shape.size(); ++d) {
    kept.push_back(Contains(axes, static_cast<int64_t>(d)) ? 1 : shape[d]);
  }
  std::vector<std::vector<double>> groups(NumElements(kept));
  const auto values = x.As<float>();
  size_t position = 0;
  ForEachIndex(shape, [&](const Shape& index) {
    groups[BroadcastOffset(kept, index)].push_back(values[position++]);
  });
  std::vector<double> want;
  for (const auto& group : groups) want.push_back(Reference(mode, group));
  CommandCase test(Opcode::kReduceF32,
                   {{Field::kSrc, x}, {Field::kList, ConstantList<int64_t>(axes)}}, DType::kF32,
                   kept);
  test.Set(Field::kMode, static_cast<int>(mode));
  ExpectClose(RunOnAnyIsa(test).As<float>(), want, Tolerance(mode));
}

// What a type's elements wrap around to.
template <typename T>
T Reduced(ReduceOp mode, const std::vector<T>& x) {
  uint64_t sum = 0, product = 1, l1 = 0, squares = 0;
  for (const T value : x) {
    const auto v = static_cast<uint64_t>(static_cast<int64_t>(value));
    sum += v;
    product *= v;
    l1 += value < 0 ? 0 - v : v;
    squares += v * v;
  }
  switch (mode) {
    case ReduceOp::kMean:
      return static_cast<T>(static_cast<T>(sum) / static_cast<T>(x.size()));
    case ReduceOp::kMax:
      return *std::max_element(x.begin(), x.end());
    case ReduceOp::kMin:
      return *std::min_element(x.begin(), x.end());
    case ReduceOp::kProd:
      return static_cast<T>(product);
    case ReduceOp::kL1:
      return static_cast<T>(l1);
    case ReduceOp::kSumSquare:
      return static_cast<T>(squares);
    default:
      return static_cast<T>(sum);
  }
}

template <typename T>
void CheckReducedIntegers(ReduceOp mode, const Shape& shape, const std::vector<int64_t>& axes,
                          std::mt19937& random) {
  std::vector<T> values(NumElements(shape));
  for (T& value : values) {
    const auto bits = static_cast<T>(uint64_t{random()} << 32 | random());
    value = random() % 3 == 0 ? bits : static_cast<T>(bits % 20);
  }
  Shape kept = shape;
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  std::vector<std::vector<T>> groups(NumElements(kept));
  size_t position = 0;
  ForEachIndex(shape, [&](const Shape& index) {
    groups[BroadcastOffset(kept, index)].push_back(values[position++]);
  });
  std::vector<T> want;
  for (const auto& group : groups) want.push_back(Reduced(mode, group));
  CommandCase test(
      Opcode::kReduceF32,
      {{Field::kSrc, Make<T>(shape, values)}, {Field::kList, ConstantList<int64_t>(axes)}},
      DTypeOf<T>(), kept);
  test.Set(Field::kMode, static_cast<int>(mode));
  EXPECT_EQ(RunOnAnyThreads(test).As<T>(), want);
}

TEST(ReduceTest, IntegersWrapAround) {
  for (int mode = 0; mode < kReduceOpCount; ++mode) {
    if (kReduceOperands[mode] == ReduceOperands::kFloats) continue;
    for (uint32_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(::testing::Message() << "mode " << mode << " seed " << seed);
      std::mt19937 random(seed);
      Shape shape;
      std::vector<int64_t> axes;
      for (size_t d = 0; d < 1 + seed % 4; ++d) {
        shape.push_back(1 + random() % 6);
        if (random() % 2 == 0) axes.push_back(static_cast<int64_t>(d));
      }
      CheckReducedIntegers<int32_t>(static_cast<ReduceOp>(mode), shape, axes, random);
      CheckReducedIntegers<int64_t>(static_cast<ReduceOp>(mode), shape, axes, random);
    }
  }
}

TEST(ReduceTest, AnyAndAllOfBool) {
  for (const ReduceOp mode : {ReduceOp::kMax, ReduceOp::kMin}) {
    CommandCase test(Opcode::kReduceF32,
                     {{Field::kSrc, BoolTensor({3, 2}, {0, 0, 0, 1, 1, 1})},
                      {Field::kList, ConstantList<int64_t>({1})}},
                     DType::kBool, {3});
    test.Set(Field::kMode, static_cast<int>(mode));
    const std::vector<uint8_t> any = {0, 1, 1}, all = {0, 0, 1};
    EXPECT_EQ(RunOnAnyThreads(test).As<uint8_t>(), mode == ReduceOp::kMax ? any : all);
  }
}

TEST(ReduceTest, EveryModeOverEverySetOfAxes) {
  const Shape shape{2, 3, 5, 7};
  for (int mode = 0; mode < kReduceOpCount; ++mode) {
    for (int set = 1; set < 16; ++set) {
      std::vector<int64_t> axes;
      for (int64_t d = 0; d < 4; ++d) {
        if ((set >> d) & 1) axes.push_back(d);
      }
      CheckReduce(static_cast<ReduceOp>(mode), shape, axes,
                  static_cast<uint32_t>(100 * mode + set));
    }
  }
}

TEST(ReduceTest, OtherRanks) {
  CheckReduce(ReduceOp::kMean, {1000}, {0}, 1);
  CheckReduce(ReduceOp::kMean, {1, 9, 11, 67}, {1, 2}, 2);
  CheckReduce(ReduceOp::kMax, {2, 1, 3, 1, 4, 5}, {1, 2, 5}, 3);
  CheckReduce(ReduceOp::kSum, {3, 1, 5}, {1}, 4);
}

// Every length around the groups of eight and sixteen, as rows and as columns, and more columns
// than are reduced at once.
TEST(ReduceTest, EveryLength) {
  for (const ReduceOp mode :
       {ReduceOp::kMean, ReduceOp::kL1, ReduceOp::kL2, ReduceOp::kMax, ReduceOp::kMin}) {
    for (int64_t n = 1; n <= 50; ++n) {
      CheckReduce(mode, {3, n}, {1}, static_cast<uint32_t>(n));
      CheckReduce(mode, {n, 5}, {0}, static_cast<uint32_t>(n));
      CheckReduce(mode, {5, n}, {0}, static_cast<uint32_t>(n));
    }
    CheckReduce(mode, {6, 1043}, {0}, 1);
    CheckReduce(mode, {2, 7, 600}, {1}, 2);
  }
}

TEST(ReduceTest, RandomShapesAndAxes) {
  std::mt19937 random(1);
  for (uint32_t round = 0; round < 150; ++round) {
    Shape shape;
    std::vector<int64_t> axes;
    const auto rank = static_cast<int64_t>(1 + random() % 5);
    for (int64_t d = 0; d < rank; ++d) {
      shape.push_back(1 + random() % (random() % 4 == 0 ? 40 : 6));
      if (random() % 2 == 0) axes.push_back(d);
    }
    if (axes.empty()) axes.push_back(static_cast<int64_t>(random() % rank));
    CheckReduce(static_cast<ReduceOp>(round % kReduceOpCount), shape, axes, round);
  }
}

// The elements are equal but for one: wherever it stands, it decides.
void CheckSpecial(ReduceOp mode, float rest, float one, float want) {
  for (const int64_t n : {1, 5, 8, 17, 40}) {
    for (int64_t at = 0; at < n; ++at) {
      for (const bool columns : {false, true}) {
        std::vector<float> values(n * (columns ? 9 : 1), rest);
        values[columns ? at * 9 + at % 9 : at] = one;
        const int64_t hit = columns ? at % 9 : 0;
        CommandCase test(Opcode::kReduceF32,
                         {{Field::kSrc, Make<float>({n, columns ? 9 : 1}, values)},
                          {Field::kList, ConstantList<int64_t>({0})}},
                         DType::kF32, {1, columns ? 9 : 1});
        test.Set(Field::kMode, static_cast<int>(mode));
        const float got = RunOnAnyIsa(test).As<float>()[hit];
        ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
            << got << " at " << at << " of " << n << " columns " << columns << " mode "
            << static_cast<int>(mode);
      }
    }
  }
}

TEST(ReduceTest, NanAndInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const ReduceOp mode :
       {ReduceOp::kMean, ReduceOp::kSumSquare, ReduceOp::kL1, ReduceOp::kMax, ReduceOp::kMin}) {
    CheckSpecial(mode, 1, NAN, NAN);
    CheckSpecial(mode, 1, -NAN, NAN);
  }
  CheckSpecial(ReduceOp::kMax, -kInfinity, -5, -5);
  CheckSpecial(ReduceOp::kMin, kInfinity, 5, 5);
  CheckSpecial(ReduceOp::kMax, -1, kInfinity, kInfinity);
  CheckSpecial(ReduceOp::kMin, -1, -kInfinity, -kInfinity);
  CheckSpecial(ReduceOp::kSum, 1, -kInfinity, -kInfinity);
  CheckSpecial(ReduceOp::kL1, 1, -kInfinity, kInfinity);
}

// Sums that a float could not hold on the way.
TEST(ReduceTest, SumsInDouble) {
  for (const int64_t n : {9, 33, 49, 70}) {
    std::vector<float> values(n, 0.25f);
    values.front() = 1e10f;
    values[n / 2] = -1e10f;
    for (const Shape& shape : {Shape{n, 1}, Shape{n, 3}}) {
      std::vector<float> all;
      for (const float value : values) all.insert(all.end(), shape[1], value);
      CommandCase test(
          Opcode::kReduceF32,
          {{Field::kSrc, Make<float>(shape, all)}, {Field::kList, ConstantList<int64_t>({0})}},
          DType::kF32, {1, shape[1]});
      test.Set(Field::kMode, static_cast<int>(ReduceOp::kSum));
      const std::vector<double> want(shape[1], 0.25 * static_cast<double>(n - 2));
      ExpectClose(RunOnAnyIsa(test).As<float>(), want, 0.0);
    }
  }
}

TEST(ReduceTest, LogSumExpDoesNotOverflow) {
  CommandCase test(
      Opcode::kReduceF32,
      {{Field::kSrc, Make<float>({2}, {1000, 1000})}, {Field::kList, ConstantList<int64_t>({0})}},
      DType::kF32, {});
  test.Set(Field::kMode, static_cast<int>(ReduceOp::kLogSumExp));
  ExpectClose(RunOnAnyThreads(test).As<float>(), {1000 + std::log(2.0)}, 1e-6);
}

TEST(ReduceTest, RejectsAResultOfTheWrongSize) {
  const CommandCase test(Opcode::kReduceF32,
                         {{Field::kSrc, Make<float>({2, 2}, {1, 2, 3, 4})},
                          {Field::kList, ConstantList<int64_t>({0})}},
                         DType::kF32, {2, 2});
  EXPECT_NE(ErrorOf(test), kNoError);
}

}  // namespace
}  // namespace rshift
