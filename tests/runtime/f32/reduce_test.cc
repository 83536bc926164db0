#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/f32/modes.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using f32::ReduceMode;
using namespace rshift::testing;

double Reference(ReduceMode mode, const std::vector<double>& x) {
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
    case ReduceMode::kMean:
      return sum / x.size();
    case ReduceMode::kSum:
      return sum;
    case ReduceMode::kMax:
      return highest;
    case ReduceMode::kMin:
      return lowest;
    case ReduceMode::kProd:
      return product;
    case ReduceMode::kL1:
      return l1;
    case ReduceMode::kL2:
      return std::sqrt(squares);
    case ReduceMode::kSumSquare:
      return squares;
    case ReduceMode::kLogSumExp:
      return std::log(powers);
    case ReduceMode::kLogSum:
      return std::log(sum);
  }
  return -1;
}

// Half a unit in the last place of the float written and the sum's error in double; a logarithm is
// of a sum that is off by as much.
double Tolerance(ReduceMode mode) { return mode == ReduceMode::kLogSum ? 1e-6 : 6.0e-8; }

bool Contains(const std::vector<int64_t>& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

void CheckReduce(ReduceMode mode, const Shape& shape, const std::vector<int64_t>& axes,
                 uint32_t seed) {
  SCOPED_TRACE(::testing::Message() << "mode " << static_cast<int>(mode) << " " << ToString(shape)
                                    << " over " << ToString(axes) << " seed " << seed);
  std::mt19937 random(seed);
  const TestTensor x =
      RandomFloats(shape, random, mode == ReduceMode::kLogSum ? 0.1f : -1.5f, 1.5f);
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

TEST(ReduceTest, EveryModeOverEverySetOfAxes) {
  const Shape shape{2, 3, 5, 7};
  for (int mode = 0; mode < f32::kReduceModeCount; ++mode) {
    for (int set = 1; set < 16; ++set) {
      std::vector<int64_t> axes;
      for (int64_t d = 0; d < 4; ++d) {
        if ((set >> d) & 1) axes.push_back(d);
      }
      CheckReduce(static_cast<ReduceMode>(mode), shape, axes,
                  static_cast<uint32_t>(100 * mode + set));
    }
  }
}

TEST(ReduceTest, OtherRanks) {
  CheckReduce(ReduceMode::kMean, {1000}, {0}, 1);
  CheckReduce(ReduceMode::kMean, {1, 9, 11, 67}, {1, 2}, 2);
  CheckReduce(ReduceMode::kMax, {2, 1, 3, 1, 4, 5}, {1, 2, 5}, 3);
  CheckReduce(ReduceMode::kSum, {3, 1, 5}, {1}, 4);
}

// Every length around the groups of eight and sixteen, as rows and as columns, and more columns
// than are reduced at once.
TEST(ReduceTest, EveryLength) {
  for (const ReduceMode mode :
       {ReduceMode::kMean, ReduceMode::kL1, ReduceMode::kL2, ReduceMode::kMax, ReduceMode::kMin}) {
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
    CheckReduce(static_cast<ReduceMode>(round % f32::kReduceModeCount), shape, axes, round);
  }
}

// The elements are equal but for one: wherever it stands, it decides.
void CheckSpecial(ReduceMode mode, float rest, float one, float want) {
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
  for (const ReduceMode mode : {ReduceMode::kMean, ReduceMode::kSumSquare, ReduceMode::kL1,
                                ReduceMode::kMax, ReduceMode::kMin}) {
    CheckSpecial(mode, 1, NAN, NAN);
    CheckSpecial(mode, 1, -NAN, NAN);
  }
  CheckSpecial(ReduceMode::kMax, -kInfinity, -5, -5);
  CheckSpecial(ReduceMode::kMin, kInfinity, 5, 5);
  CheckSpecial(ReduceMode::kMax, -1, kInfinity, kInfinity);
  CheckSpecial(ReduceMode::kMin, -1, -kInfinity, -kInfinity);
  CheckSpecial(ReduceMode::kSum, 1, -kInfinity, -kInfinity);
  CheckSpecial(ReduceMode::kL1, 1, -kInfinity, kInfinity);
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
      test.Set(Field::kMode, static_cast<int>(ReduceMode::kSum));
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
  test.Set(Field::kMode, static_cast<int>(ReduceMode::kLogSumExp));
  ExpectClose(RunOnAnyThreads(test).As<float>(), {1000 + std::log(2.0)}, 1e-6);
}

TEST(ReduceTest, RejectsAResultOfTheWrongSize) {
  const CommandCase test(Opcode::kReduceF32,
                         {{Field::kSrc, Make<float>({2, 2}, {1, 2, 3, 4})},
                          {Field::kList, ConstantList<int64_t>({0})}},
                         DType::kF32, {2, 2});
  EXPECT_NE(ErrorOf(test), "");
}

}  // namespace
}  // namespace rshift
