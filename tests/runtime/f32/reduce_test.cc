#include <gtest/gtest.h>

#include <cmath>

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
  ExpectClose(RunOnAnyThreads(test).As<float>(), want, 1e-6);
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
